import { useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAssistantInstructions,
  useAssistantTool,
} from "@assistant-ui/react";
import { useAgUiInterrupts, useAgUiRuntime, useAgUiSubmitInterruptResponses } from "@assistant-ui/react-ag-ui";
import { spoolHistory } from "./history";
import { SpoolAgent } from "./spool-agent";

const books = ["The Waves", "Middlemarch", "Solaris"];

// The thread is in the address, so that a reload shows it again.
const threadId = new URLSearchParams(location.search).get("thread") ?? "demo";

function Shelf() {
  const [marked, setMarked] = useState<string>();

  // The model calls this; it runs here, and what it returns goes back to the model.
  useAssistantTool({
    toolName: "highlight",
    description: "Marks a book on the page.",
    parameters: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    execute: async ({ title }: { title: string }) => {
      setMarked(title);
      return { marked: title };
    },
  });

  // The model reads this as data.
  useAssistantInstructions(`The books on the page: ${books.join(", ")}`);

  return (
    <aside>
      {books.map((title) => (
        <p key={title} className={title === marked ? "marked" : undefined}>
          {title}
        </p>
      ))}
    </aside>
  );
}

/** A call that needs an approval. */
function Questions() {
  const open = useAgUiInterrupts();
  const answer = useAgUiSubmitInterruptResponses();
  const all = (approved: boolean) =>
    answer(open.map((i) => ({ interruptId: i.id, status: "resolved", payload: { approved } })));
  if (open.length === 0) return null;
  return (
    <p>
      {open.map((i) => i.message).join(" ")} <button onClick={() => void all(true)}>Yes</button>{" "}
      <button onClick={() => void all(false)}>No</button>
    </p>
  );
}

function Message() {
  return (
    <MessagePrimitive.Root style={{ whiteSpace: "pre-wrap", margin: "1rem 0" }}>
      <MessagePrimitive.Parts />
    </MessagePrimitive.Root>
  );
}

function Page() {
  const agent = useMemo(() => new SpoolAgent({ url: "/api/agent/ag-ui", threadId }), []);
  const history = useMemo(() => spoolHistory(agent), [agent]);
  const runtime = useAgUiRuntime({ agent, adapters: { history } });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Shelf />
      <ThreadPrimitive.Root style={{ padding: "1rem", overflow: "auto" }}>
        <ThreadPrimitive.Viewport>
          <ThreadPrimitive.Messages components={{ Message }} />
        </ThreadPrimitive.Viewport>
        <Questions />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input placeholder="Write a message" rows={2} style={{ width: "100%" }} />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

createRoot(document.getElementById("root")!).render(<Page />);

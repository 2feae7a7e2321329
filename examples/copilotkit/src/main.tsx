import { type ComponentProps, useState } from "react";
import { createRoot } from "react-dom/client";
import { CopilotChat, CopilotKitProvider, useAgentContext, useFrontendTool, useInterrupt } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { z } from "zod";
import { keepParts, Parts } from "./parts";
import { SpoolAgent } from "./spool-agent";

const books = ["The Waves", "Middlemarch", "Solaris"];

const agent = new SpoolAgent({ url: "/api/agent/ag-ui" });
agent.subscribe(keepParts);

// The thread is in the address, so that a reload shows it again.
const threadId = new URLSearchParams(location.search).get("thread") ?? "demo";

function Shelf() {
  const [marked, setMarked] = useState<string>();

  // The model calls this; it runs here, and what it returns goes back to the model.
  useFrontendTool({
    name: "highlight",
    description: "Marks a book on the page.",
    parameters: z.object({ title: z.string() }),
    handler: async ({ title }) => {
      setMarked(title);
      return { marked: title };
    },
  });

  // The model reads this as data.
  useAgentContext({ description: "The books on the page", value: books });

  // A call that needs an approval.
  useInterrupt({
    render: ({ interrupt, resolve }) => (
      <p>
        {interrupt?.message} <button onClick={() => resolve({ approved: true })}>Yes</button>{" "}
        <button onClick={() => resolve({ approved: false })}>No</button>
      </p>
    ),
  });

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

// Sources, images and files go below the text of a message.
const renderCustomMessages: ComponentProps<typeof CopilotKitProvider>["renderCustomMessages"] = [
  { render: ({ message, position }) => position === "after" && <Parts message={message} /> },
];

createRoot(document.getElementById("root")!).render(
  <CopilotKitProvider selfManagedAgents={{ default: agent }} renderCustomMessages={renderCustomMessages} enableInspector={false}>
    <Shelf />
    <CopilotChat agentId="default" threadId={threadId} />
  </CopilotKitProvider>,
);

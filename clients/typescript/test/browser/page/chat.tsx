// A chat with nine features: threads beside it, a turn that is shown at once, stop, edit, regenerate, images, an approval
// whose arguments can be edited, retry, and the tokens of each step. It goes below a SpoolProvider.
import {
  type Interrupt,
  useInterrupts,
  useMessage,
  useMessages,
  useRun,
  useThread,
  useThreadState,
  useThreads,
} from "@spool/react";
import { useState } from "react";

export function Chat() {
  const { threadId, active, error, send, stop, retry, select, newThread } = useThread();
  const unsent = useThreadState((state) => state.unsent);
  const [text, setText] = useState("");
  const [files, setFiles] = useState<File[]>([]);
  const submit = () => [void send(text, { attachments: files }), setText(""), setFiles([])];
  return (
    <>
      <nav>
        <button type="button" onClick={newThread}>
          New
        </button>
        {useThreads().threads.map(({ id, title }) => (
          <button key={id} type="button" aria-current={id === threadId} onClick={() => select(id)}>
            {title || id}
          </button>
        ))}
      </nav>
      <main>
        {useMessages().map((id) => (
          <Message key={id} id={id} />
        ))}
        {useInterrupts().map((ask) => (
          <Approval key={ask.toolCallId} ask={ask} />
        ))}
        {error && <p role="alert">{error.message}</p>}
        {unsent !== null && (
          <button type="button" onClick={() => void retry()}>
            Retry
          </button>
        )}
        <output>{useRun()?.totalTokens ?? 0} tokens</output>
        <textarea aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <input
          type="file"
          aria-label="Images"
          multiple
          onChange={(event) => setFiles([...(event.target.files ?? [])])}
        />
        <button type="button" onClick={active ? () => void stop() : submit}>
          {active ? "Stop" : "Send"}
        </button>
      </main>
    </>
  );
}

function Message({ id }: { id: string }) {
  const { edit, regenerate, active } = useThread();
  const message = useMessage(id);
  if (message === null) return null;
  const change = () => void edit(id, prompt("New text", message.text) ?? message.text);
  return (
    <article data-status={message.status}>
      {message.parts.map((part) => (part.type === "image" ? <img key={part.image} src={part.image} alt="" /> : null))}
      <p>{message.text}</p>
      {message.role === "user" && !active && (
        <button type="button" onClick={change}>
          Edit
        </button>
      )}
      {message.role === "user" && !active && (
        <button type="button" onClick={() => void regenerate(id)}>
          Again
        </button>
      )}
    </article>
  );
}

function Approval({ ask }: { ask: Interrupt }) {
  const [args, setArgs] = useState(JSON.stringify(ask.arguments));
  return (
    <form>
      <textarea aria-label={ask.toolName} value={args} onChange={(event) => setArgs(event.target.value)} />
      <button type="button" onClick={() => void ask.approve({ arguments: JSON.parse(args) })}>
        Approve
      </button>
      <button type="button" onClick={() => void ask.deny()}>
        Deny
      </button>
    </form>
  );
}

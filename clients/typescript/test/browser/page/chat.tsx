// A chat with nine features: threads beside it, a turn that is shown at once, stop, edit, regenerate, images, an approval
// whose arguments can be edited, retry, and the tokens of each step. It goes below a SpoolProvider.
import type { Interrupt } from "@spool/react";
import { useInterrupts, useMessage, useMessages, useRun, useThread, useThreadState, useThreads } from "@spool/react";
import { type ComponentProps, useState } from "react";

const Button = (props: ComponentProps<"button">) => <button type="button" {...props} />;

export function Chat() {
  const { threadId, active, error, send, stop, retry, select, newThread } = useThread();
  const messages = useMessages().map((id) => <Message key={id} id={id} />);
  const questions = useInterrupts().map((ask) => <Approval key={ask.toolCallId} ask={ask} />);
  const [text, setText] = useState("");
  const [files, setFiles] = useState<File[]>([]);
  const pick = (list: FileList | null) => setFiles([...(list ?? [])]);
  const submit = () => [void send(text, { attachments: files }), setText(""), setFiles([])];
  return (
    <>
      <nav>
        <Button onClick={newThread}>New</Button>
        {useThreads().threads.map(({ id, title }) => (
          <Button key={id} aria-current={id === threadId} onClick={() => select(id)}>
            {title || id}
          </Button>
        ))}
      </nav>
      <main>
        {messages}
        {questions}
        {error && <p role="alert">{error.message}</p>}
        {useThreadState((state) => state.unsent) !== null && <Button onClick={() => void retry()}>Retry</Button>}
        <output>{useRun()?.totalTokens ?? 0} tokens</output>
        <textarea aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <input type="file" aria-label="Images" multiple onChange={(event) => pick(event.target.files)} />
        <Button onClick={active ? () => void stop() : submit}>{active ? "Stop" : "Send"}</Button>
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
      {message.role === "user" && !active && <Button onClick={change}>Edit</Button>}
      {message.role === "user" && !active && <Button onClick={() => void regenerate(id)}>Again</Button>}
    </article>
  );
}

function Approval({ ask }: { ask: Interrupt }) {
  const [args, setArgs] = useState(JSON.stringify(ask.arguments));
  return (
    <form>
      <textarea aria-label={ask.toolName} value={args} onChange={(event) => setArgs(event.target.value)} />
      <Button onClick={() => void ask.approve({ arguments: JSON.parse(args) })}>Approve</Button>
      <Button onClick={() => void ask.deny()}>Deny</Button>
    </form>
  );
}

// src/App.tsx
import {
  type Interrupt,
  type ShownPart,
  SpoolProvider,
  useActivity,
  useInterrupts,
  useMessage,
  useMessages,
  useThread,
} from "@spool/react";

function Part({ part }: { part: ShownPart }) {
  switch (part.type) {
    case "text":
      return <p style={{ whiteSpace: "pre-wrap" }}>{part.text}</p>;
    case "reasoning":
      return (
        <details>
          <summary>Reasoning</summary>
          {part.text}
        </details>
      );
    case "tool-call":
      return (
        <div>
          <code>{part.toolName}</code> {part.state}
          {part.sources?.map((source, i) => (
            <Part key={i} part={source} />
          ))}
          {part.agentId !== undefined && <Messages agentId={part.agentId} />}
        </div>
      );
    case "source":
      return part.url === undefined ? (
        <p>{part.title}</p>
      ) : (
        <a href={part.url} target="_blank" rel="noopener noreferrer">
          {part.title ?? part.url}
        </a>
      );
    default:
      return null;
  }
}

function Message({ id }: { id: string }) {
  const message = useMessage(id);
  return (
    <article>
      <b>{message?.role}</b>
      {message?.parts.map((part, i) => (
        <Part key={i} part={part} />
      ))}
    </article>
  );
}

/** The messages of the thread, or of a nested run. */
function Messages({ agentId }: { agentId?: string }) {
  return useMessages(agentId === undefined ? {} : { agentId }).map((id) => <Message key={id} id={id} />);
}

function Question({ asked }: { asked: Interrupt }) {
  return (
    <fieldset disabled={asked.answering}>
      <legend>
        {asked.toolName}: {asked.reason}
      </legend>
      <pre>{JSON.stringify(asked.arguments, null, 2)}</pre>
      <button onClick={() => asked.approve()}>Approve</button>
      <button onClick={() => asked.deny("not now")}>Deny</button>
    </fieldset>
  );
}

function Chat() {
  const { send, stop, active, error } = useThread();
  const { label } = useActivity();
  const questions = useInterrupts();
  return (
    <main>
      <Messages />
      {questions.map((asked) => (
        <Question key={asked.toolCallId} asked={asked} />
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form action={(form) => void send(String(form.get("prompt")))}>
        <input name="prompt" placeholder='use send_email with {"to":"ann@example.com"}' />
        <button>Send</button>
        <button type="button" disabled={!active} onClick={() => stop()}>
          Stop
        </button>
        <small>{label}</small>
      </form>
    </main>
  );
}

export default function App() {
  return (
    <SpoolProvider>
      <Chat />
    </SpoolProvider>
  );
}

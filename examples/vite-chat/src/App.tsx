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

/** A file of the thread: an image, or something to save. Where the server wants a token, `client.artifact` of useSpool reads it. */
function Artifact({ id, name, mediaType = "" }: { id: string; name: string; mediaType?: string | undefined }) {
  const { threadId } = useThread();
  const place = `/api/agent/artifacts/${encodeURIComponent(id)}?threadId=${encodeURIComponent(threadId ?? "")}`;
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType) ? (
    <img src={place} alt={name} loading="lazy" style={{ maxWidth: "100%" }} />
  ) : (
    <a href={place} download={name}>
      {name}
    </a>
  );
}

/** The file that a tool has returned, if it did. */
function fileOf(result: unknown) {
  const { artifact } = (result ?? {}) as { artifact?: { id: string; name: string; mediaType: string } };
  return artifact && <Artifact id={artifact.id} name={artifact.name} mediaType={artifact.mediaType} />;
}

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
          {fileOf(part.result)}
          {part.sources?.map((source, i) => (
            <Part key={i} part={source} />
          ))}
          {part.agentId !== undefined && <Messages agentId={part.agentId} />}
        </div>
      );
    case "image":
    case "file": {
      const place = part.type === "image" ? part.image : part.file;
      const name = part.type === "image" ? "image" : (part.fileName ?? "file");
      const id = place.startsWith("artifact:") ? place.slice("artifact:".length) : null;
      return id === null ? <p>{name}</p> : <Artifact id={id} name={name} mediaType={part.mimeType} />;
    }
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

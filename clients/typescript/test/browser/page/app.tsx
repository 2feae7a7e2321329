// What the tests look at: a chat on the hooks, with everything that a thread can show.
import {
  type Interrupt,
  type ShownToolCall,
  useActivity,
  useConnection,
  useInterrupts,
  useMessage,
  useMessages,
  useRuns,
  useThread,
  useThreadActions,
} from "@spool/react";
import { type FormEvent, memo, Profiler } from "react";
import { rendered } from "./renders.js";

/** Shows one thread. With `last`, only its last messages are on the screen. */
export function App({ last }: { last: number }) {
  const { error, threadId, dismissError } = useThread();
  return (
    <>
      <Status />
      {error && (
        <p className="error" data-code={error.code}>
          {error.message}{" "}
          <button type="button" onClick={dismissError}>
            Dismiss
          </button>
        </p>
      )}
      <main data-thread={threadId ?? ""}>
        <Messages last={last} />
      </main>
      <Queue />
      <Questions />
      <Composer />
    </>
  );
}

function Status() {
  const { phase, label } = useActivity();
  const { connection } = useConnection();
  return (
    <header>
      <span id="phase" data-phase={phase}>
        {label}
      </span>
      <span id="connection">{connection}</span>
    </header>
  );
}

const Messages = memo(function Messages({
  agentId,
  last = Number.POSITIVE_INFINITY,
}: {
  agentId?: string;
  last?: number;
}) {
  const ids = useMessages(agentId === undefined ? {} : { agentId });
  return ids.slice(-last).map((id) => <Message key={id} id={id} />);
});

const Message = memo(function Message({ id }: { id: string }) {
  const message = useMessage(id);
  const { edit } = useThreadActions();
  if (message === null) {
    return null;
  }
  return (
    <Profiler id={id} onRender={rendered}>
      <article data-id={id} data-role={message.role} data-status={message.status} data-agent={message.agentId ?? ""}>
        {message.parts.map((part, i) =>
          part.type === "tool-call" ? (
            <Call key={part.toolCallId} call={part} />
          ) : part.type === "text" || part.type === "reasoning" || part.type === "summary" ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no ids, and only the last one grows
            <div key={i} className={part.type}>
              {part.text}
            </div>
          ) : null,
        )}
        {message.role === "user" && message.status === "saved" && (
          <button type="button" onClick={() => edit(id, `${message.text}, edited`)}>
            Edit
          </button>
        )}
      </article>
    </Profiler>
  );
});

function Call({ call }: { call: ShownToolCall }) {
  return (
    <div className="call" data-call={call.toolCallId} data-state={call.state}>
      {call.toolName}: {call.state} {call.result !== undefined && <code>{beginning(call.result)}</code>}
      {call.agentId !== undefined && <Messages agentId={call.agentId} />}
    </div>
  );
}

/** A value as JSON, of which a page has only the beginning if it is large. */
function beginning(value: unknown): string {
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, 2001) : value);
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}

function Questions() {
  return useInterrupts().map((asked) => <Question key={asked.toolCallId} asked={asked} />);
}

function Question({ asked }: { asked: Interrupt }) {
  const more = { payload: { tokenBudget: 100_000 } };
  return (
    <div className="park" data-park={asked.toolCallId} data-reason={asked.reason}>
      {asked.nested?.name} {asked.toolName} ({asked.reason}): <code>{JSON.stringify(asked.arguments)}</code>
      <button
        type="button"
        disabled={asked.answering}
        onClick={() => asked.approve(asked.reason === "budget_reached" ? more : {})}
      >
        Approve
      </button>
      <button type="button" disabled={asked.answering} onClick={() => asked.deny("no")}>
        Deny
      </button>
    </div>
  );
}

function Queue() {
  const { queue, retry } = useRuns();
  return (
    <>
      {queue.map(({ runId, position }) => (
        <p key={runId} className="queued">
          A run waits, at place {position}
        </p>
      ))}
      {retry && <p className="retry">Again at {retry.at}</p>}
    </>
  );
}

function Composer() {
  const { send, stop, active } = useThread();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { ok } = await send(String(new FormData(form).get("prompt")));
    if (ok) {
      form.reset();
    }
  };
  return (
    <form onSubmit={submit}>
      <textarea name="prompt" aria-label="Message" />
      <button type="submit">Send</button>
      <button type="button" disabled={!active} onClick={() => stop()}>
        Stop
      </button>
    </form>
  );
}

// A thread: its messages as they come, what it waits for, and where the next turn is written.
import type { Answer } from "@spool/client";
import {
  type Interrupt,
  SpoolThread,
  useConnection,
  useInterrupts,
  useMessages,
  useThread,
  useThreadActions,
  useThreadState,
} from "@spool/react";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { go, to } from "../route.js";
import { visible } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Empty, messageOf, Problem } from "../ui/parts.js";
import { Composer, type NewThreadOptions } from "./composer.js";
import { ThreadMark } from "./marks.js";
import { Message } from "./message.js";
import { NewThread } from "./new-thread.js";
import { Panel } from "./panel.js";
import { ParkPanel } from "./park.js";
import { ParkRead } from "./park-read.js";
import { useReadOnly } from "./read-only.js";
import { Follow } from "./took.js";
import { useWindow } from "./use-window.js";
import { waitOf } from "./wait.js";
import { whyOf } from "./why.js";

/** How many messages are read at first, and with each page on the way up. */
const page = 100;

/** Shows a thread, or a new one, which its first turn creates. */
export function ThreadPage({
  threadId,
  onBorn,
  onState,
}: {
  threadId: string | null;
  /** Called for a thread that its first turn has created. */
  onBorn: (id: string) => void;
  /** Called with another text when the list of threads shows something else of this one. */
  onState: (state: string) => void;
}): ReactNode {
  return (
    <SpoolThread
      threadId={threadId}
      pageSize={page}
      onThread={(id) => {
        if (id !== null && id !== threadId) {
          onBorn(id);
          go(to.thread(id), true);
        }
      }}
    >
      <Conversation onState={onState} />
    </SpoolThread>
  );
}

function Conversation({ onState }: { onState: (state: string) => void }): ReactNode {
  const { threadId, error, state, loading } = useThread();
  const { connection } = useConnection();
  const title = useThreadState(({ view }) => view.thread.title);
  useEffect(() => onState(`${threadId} ${state} ${title}`), [onState, threadId, state, title]);
  const [options, setOptions] = useState<NewThreadOptions>({ agent: "", model: "", tokenBudget: "" });
  const [aside, setAside] = useState(false);
  const [example, setExample] = useState({ text: "" });
  const missing = error?.code === "not_found";
  if (missing) {
    return (
      <Empty title="There is no such thread">
        <p>It was deleted, or belongs to somebody else.</p>
        <a href={to.threads}>All threads</a>
      </Empty>
    );
  }
  return (
    <div className="thread" data-aside={aside}>
      <div className="talk">
        <Head aside={aside} onAside={() => setAside(!aside)} />
        <Follow ready={!loading && connection === "open"}>
          <Messages>
            {threadId === null && (
              <NewThread options={options} onChange={setOptions} onExample={(text) => setExample({ text })} />
            )}
          </Messages>
        </Follow>
        <Failure />
        <Composer options={options} example={example} />
      </div>
      {threadId !== null && (
        <aside aria-label="About this thread">
          <Panel />
        </aside>
      )}
    </div>
  );
}

function Head({ aside, onAside }: { aside: boolean; onAside: () => void }): ReactNode {
  const { threadId } = useThread();
  const title = useThreadState(({ view }) => view.thread.title);
  const { connection, error } = useConnection();
  return (
    <header className="thread-head">
      <a className="back" href={to.threads} aria-label="All threads">
        ‹
      </a>
      <h1 className="clip" title={title ?? threadId ?? ""}>
        {threadId === null ? "New thread" : visible(title || threadId)}
      </h1>
      <ThreadMark />
      {connection === "reconnecting" && (
        <span className="tag warn" role="status">
          {error ? `reconnecting: ${error.message}` : "reconnecting"}
        </span>
      )}
      {threadId !== null && (
        <>
          <a className="button quiet" href={to.record(threadId)} title="Look back (h)">
            History
          </a>
          <button type="button" className="quiet aside-toggle" aria-expanded={aside} onClick={onAside}>
            Details
          </button>
        </>
      )}
    </header>
  );
}

/** Why the run waits, or how it ended. */
export function Why(): ReactNode {
  const view = useThreadState(
    (state) => state.view,
    (a, b) => {
      // What the sentence is made of. Tokens are not.
      return (
        a.parks === b.parks &&
        a.pending === b.pending &&
        a.retry === b.retry &&
        a.providerWaits === b.providerWaits &&
        a.thread === b.thread &&
        a.runs === b.runs
      );
    },
  );
  const text = whyOf(view, useNow());
  return text === null ? null : (
    <p className="why" role="status" data-state={view.thread.state} data-asks={waitOf(view)?.asks === true}>
      {text}
    </p>
  );
}

/** The failure of an action or of the connection. */
function Failure(): ReactNode {
  const { error, dismissError, retry, refresh } = useThread();
  const unsent = useThreadState((state) => state.unsent);
  if (error === null) {
    return null;
  }
  return (
    <Problem
      action={
        <span className="tools">
          {error.status === undefined && (
            <button type="button" className="quiet" onClick={() => refresh()}>
              Connect again
            </button>
          )}
          {unsent !== null && (
            <button type="button" className="quiet" onClick={() => void retry()}>
              Try again
            </button>
          )}
          <button type="button" className="quiet" onClick={dismissError}>
            Dismiss
          </button>
        </span>
      }
    >
      {messageOf(error)}
    </Problem>
  );
}

/** The messages, as many as the page needs. It follows the end, unless the person has gone up. */
export function Messages({ children }: { children?: ReactNode }): ReactNode {
  const { threadId, loading, loadOlder } = useThread();
  const ids = useMessages();
  const hasOlder = useThreadState((state) => state.hasOlder);
  const loadingOlder = useThreadState((state) => state.loadingOlder);
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const pinned = useRef(true);
  const readOnly = useReadOnly();
  const older = hasOlder && !loadingOlder ? () => void loadOlder() : null;
  const { start, end, atEnd, toEnd } = useWindow(ids, box, older);
  const [away, setAway] = useState(false);
  const last = useRef(atEnd);
  const fresh = useRef(false); // a new thread begins at its first line
  useLayoutEffect(() => {
    last.current = atEnd;
    fresh.current = threadId === null && ids.length === 0;
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: another thread begins at its end
  useEffect(() => {
    pinned.current = true;
    toEnd();
  }, [threadId]);

  useLayoutEffect(() => {
    const outer = box.current;
    const inner = content.current;
    if (outer === null || inner === null) {
      return undefined;
    }
    const follow = () => {
      if (pinned.current && !fresh.current) {
        outer.scrollTop = outer.scrollHeight;
      }
    };
    const onScroll = () => {
      const below = outer.scrollHeight - outer.scrollTop - outer.clientHeight;
      pinned.current = last.current && below < 48;
      setAway(!last.current || below > 400);
    };
    const grown = new ResizeObserver(follow);
    grown.observe(inner);
    outer.addEventListener("scroll", onScroll, { passive: true });
    follow();
    return () => {
      grown.disconnect();
      outer.removeEventListener("scroll", onScroll);
    };
  }, []);

  const jump = () => {
    toEnd();
    pinned.current = true;
    requestAnimationFrame(() => box.current?.scrollTo({ top: box.current.scrollHeight }));
  };

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className="messages" ref={box} aria-label="Messages" tabIndex={0}>
      <div className="messages-inner" ref={content}>
        {children}
        {loading && threadId !== null && <p className="faint">Loading…</p>}
        {start === 0 && hasOlder && (
          <button type="button" className="quiet earlier" disabled={loadingOlder} onClick={() => older?.()}>
            Show earlier messages
          </button>
        )}
        {ids.slice(start, end).map((id) => (
          <Message key={id} id={id} />
        ))}
        {atEnd && (
          <>
            {readOnly ? <Waited /> : <Waiting />}
            <Queued />
            <Why />
          </>
        )}
      </div>
      {away && (
        <button type="button" className="to-end" onClick={jump}>
          To the newest
        </button>
      )}
    </section>
  );
}

/** The questions of the thread. */
function Waiting(): ReactNode {
  const parks = useInterrupts();
  const { dismissError } = useThreadActions();
  // The question itself says why an answer is refused.
  const respond = async (park: Interrupt, answer: Answer) => {
    const result = await park.respond(answer);
    if (!result.ok) {
      dismissError();
    }
    return result;
  };
  const approvals = parks.filter((park) => park.reason === "approval" && !park.answering);
  const all = (approved: boolean) => {
    for (const park of approvals) {
      void respond(park, { approved });
    }
  };
  const cards = parks.map((park) => (
    <ParkPanel
      // A call that asks again asks another question.
      key={`${park.toolCallId} ${park.digest ?? ""}`}
      park={park}
      answering={park.answering}
      respond={(answer) => respond(park, answer)}
    />
  ));
  return (
    <>
      {cards}
      {approvals.length > 1 && (
        <section className="actions" aria-label="All calls that need an approval">
          <button type="button" className="primary" onClick={() => all(true)}>
            Approve all {approvals.length} as they are
          </button>
          <button type="button" className="danger" onClick={() => all(false)}>
            Deny all {approvals.length}
          </button>
        </section>
      )}
    </>
  );
}

/** The questions that waited, to read. */
function Waited(): ReactNode {
  const parks = useThreadState((state) => state.view.parks);
  return parks.map((park) => <ParkRead key={`${park.toolCallId} ${park.digest ?? ""}`} park={park} />);
}

/** Turns that wait for the thread and were sent by others. Those of this page are among the messages. */
function Queued(): ReactNode {
  const { stop } = useThreadActions();
  const readOnly = useReadOnly();
  const queue = useThreadState((state) => state.view.queue);
  const own = useThreadState((state) => state.turns);
  const others = queue.filter((run) => !own.some((turn) => turn.runId === run.runId));
  return others.map((run) => (
    <article key={run.runId} className="turn" data-status="queued" aria-label="waiting message">
      <header>
        <span className="who">Waiting</span>
        <span className="tag">{`${run.whenBusy}, ${run.position}.`}</span>
        {!readOnly && (
          <span className="tools">
            <button type="button" className="quiet" onClick={() => void stop(run.runId)}>
              Cancel
            </button>
          </span>
        )}
      </header>
      <p className="plain">{typeof run.content === "string" ? run.content : ""}</p>
    </article>
  ));
}

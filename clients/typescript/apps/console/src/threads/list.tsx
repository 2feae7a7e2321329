// All threads, the most recently changed first.
import type { Thread } from "@spool/client";
import { useThreads } from "@spool/react";
import { type ReactNode, useDeferredValue, useEffect, useState } from "react";
import { to } from "../route.js";
import { ago, visible } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Empty, messageOf, Problem, StateMark } from "../ui/parts.js";
import { useWait } from "./waits.js";

const states = [
  ["", "All states"],
  ["WAITING_FOR_INPUT", "Waiting"],
  ["RUNNING", "Running"],
  ["QUEUED", "Queued"],
  ["COMPLETED", "Done"],
  ["FAILED", "Failed"],
  ["CANCELLED", "Stopped"],
  ["expired", "Nobody answered"],
] as const;

/** How often the list is read again while it is shown. */
const refreshMs = 3000;

function ListedMark({ thread }: { thread: Thread }): ReactNode {
  const wait = useWait(
    { threadId: thread.id, updatedAt: thread.updatedAt },
    thread.state,
    `${thread.state} ${thread.updatedAt}`,
  );
  return <StateMark state={thread.state} wait={wait} />;
}

export function ThreadList({
  current,
  changed,
  none,
  onNone,
}: {
  current: string | null;
  changed: string;
  /** The last argument of onNone. */
  none: boolean;
  /** Called with whether there are no threads at all. */
  onNone: (none: boolean) => void;
}): ReactNode {
  const [query, setQuery] = useState("");
  const [state, setState] = useState("");
  const title = useDeferredValue(query.trim());
  const list = useThreads({
    limit: 50,
    refreshMs,
    ...(title !== "" && { title }),
    ...(state === "expired" ? { expired: true } : state !== "" && { state }),
  });
  const now = useNow(5);
  const { refresh } = list;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the shown thread does changes the list
  useEffect(() => void refresh(), [refresh, changed]);
  const all = title === "" && state === "";
  // Each time the list is read again, what it had is true until then.
  const empty = list.threads.length === 0 && (!list.loading || (all && none));
  useEffect(() => {
    if (all && !list.loading) {
      onNone(empty && list.error === null);
    }
  }, [onNone, all, empty, list.loading, list.error]);
  return (
    <>
      <div className="list-head">
        <a className="button primary new" href={to.newThread}>
          New thread
        </a>
        <input
          id="search"
          type="search"
          aria-label="Search threads by title"
          placeholder="Search titles"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <select aria-label="State of the threads" value={state} onChange={(event) => setState(event.target.value)}>
          {states.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {list.error !== null && <Problem>{messageOf(list.error)}</Problem>}
      <ul className="rows">
        {list.threads.map((thread) => (
          <li key={thread.id}>
            <a href={to.thread(thread.id)} aria-current={thread.id === current ? "page" : undefined}>
              <span className="row-title clip">{visible(thread.title || thread.id)}</span>
              <span className="row-line">
                <ListedMark thread={thread} />
                {thread.expired !== undefined && <span className="tag warn">nobody answered</span>}
                <time dateTime={thread.updatedAt}>{ago(thread.updatedAt, now)}</time>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {empty && <Empty title={all ? "No threads yet" : "No thread matches"} />}
      {list.hasMore && (
        <button type="button" className="quiet more" disabled={list.loading} onClick={() => void list.loadMore()}>
          Show more
        </button>
      )}
    </>
  );
}

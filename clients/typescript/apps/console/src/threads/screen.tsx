// The threads beside the one that is shown. On a phone there is room for one of both.
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Position } from "../route.js";
import { ThreadPage } from "../thread/page.js";
import { ThreadList } from "./list.js";

const RecordPage = lazy(() => import("../record/page.js"));

export function ThreadsScreen({
  threadId,
  fresh,
  record,
}: {
  threadId: string | null;
  fresh: boolean;
  /** Where in the past the thread is shown. Undefined: it is shown live. */
  record?: Position | undefined;
}): ReactNode {
  // A thread that the page has created keeps the page, and with it the stream that is open.
  const [born, setBorn] = useState<string | null>(null);
  const [changed, setChanged] = useState("");
  // On a phone somebody who has no thread begins one.
  const [none, setNone] = useState(false);
  return (
    <div className="threads" data-open={threadId !== null || fresh || none}>
      <nav aria-label="Threads" className="thread-list">
        <ThreadList current={threadId} changed={changed} none={none} onNone={setNone} />
      </nav>
      <main id="main">
        {threadId !== null && record !== undefined ? (
          <Suspense fallback={<p className="faint loading">Loading…</p>}>
            <RecordPage key={threadId} threadId={threadId} start={record.version} />
          </Suspense>
        ) : (
          <ThreadPage
            key={threadId === null || threadId === born ? "new" : threadId}
            threadId={threadId}
            onBorn={setBorn}
            onState={setChanged}
          />
        )}
      </main>
    </div>
  );
}

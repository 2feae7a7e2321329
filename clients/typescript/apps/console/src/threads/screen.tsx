// The threads beside the one that is shown. On a phone there is room for one of both.
import { type ReactNode, useState } from "react";
import { ThreadPage } from "../thread/page.js";
import { ThreadList } from "./list.js";

export function ThreadsScreen({ threadId, fresh }: { threadId: string | null; fresh: boolean }): ReactNode {
  // A thread that the page has created keeps the page, and with it the stream that is open.
  const [born, setBorn] = useState<string | null>(null);
  const [changed, setChanged] = useState("");
  return (
    <div className="threads" data-open={threadId !== null || fresh}>
      <nav aria-label="Threads" className="thread-list">
        <ThreadList current={threadId} changed={changed} />
      </nav>
      <main id="main">
        <ThreadPage
          key={threadId === null || threadId === born ? "new" : threadId}
          threadId={threadId}
          onBorn={setBorn}
          onState={setChanged}
        />
      </main>
    </div>
  );
}

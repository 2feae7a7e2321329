// A thread as it was behind one of its commits, with the way to the others.
import { type Client, emptyView, reduce } from "@spool/client";
import type { ThreadRecord } from "@spool/client/record";
import { SpoolProvider, useThreadState } from "@spool/react";
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { ThreadMark } from "../thread/marks.js";
import { Messages } from "../thread/page.js";
import { Panel } from "../thread/panel.js";
import { ReadOnly } from "../thread/read-only.js";
import { AsOf } from "../ui/now.js";
import { Events } from "./events.js";
import { factsOf } from "./facts.js";
import { playerOf } from "./player.js";
import { Scrubber } from "./scrubber.js";

export interface RecordViewProps {
  record: ThreadRecord;
  /** Reads what is not in the record, such as files. */
  client: Client;
  /** The version to begin with. Null: the last one. */
  start: number | null;
  /** Called when another version is shown. */
  onVersion?: (version: number) => void;
  /** Stands at the title. */
  head?: ReactNode;
  /** What can be done with a version. */
  actions?: (version: number) => ReactNode;
}

export function RecordView({ record, client, start, onVersion, head, actions }: RecordViewProps): ReactNode {
  const [player] = useState(() => playerOf(record, client, start));
  const [initialView] = useState(() => reduce(emptyView, record.at(player.version)));
  const version = useSyncExternalStore(player.subscribe, () => player.version);
  const facts = useMemo(() => factsOf(record), [record]);
  const here = facts.find((one) => one.version === version);
  const [aside, setAside] = useState(false);
  useEffect(() => onVersion?.(version), [onVersion, version]);
  // The address names the version of somebody who comes back.
  useEffect(() => {
    if (start !== null) {
      player.goTo(start);
    }
  }, [player, start]);
  return (
    <SpoolProvider client={player.client} persistence={false} initialView={initialView} threadId={record.thread.id}>
      <ReadOnly value={true}>
        <AsOf value={Date.parse(here?.at ?? record.thread.updatedAt)}>
          <div className="thread past" data-aside={aside}>
            <div className="talk">
              <Head aside={aside} onAside={() => setAside(!aside)}>
                {head}
              </Head>
              <Messages />
              <Scrubber player={player} facts={facts} version={version}>
                <span className="tools">{actions?.(version)}</span>
              </Scrubber>
            </div>
            <aside aria-label="About this thread">
              <div className="panel">
                <Events player={player} facts={facts} version={version} />
              </div>
              <Panel />
            </aside>
          </div>
        </AsOf>
      </ReadOnly>
    </SpoolProvider>
  );
}

function Head({ aside, onAside, children }: { aside: boolean; onAside: () => void; children: ReactNode }): ReactNode {
  const thread = useThreadState((state) => state.view.thread);
  return (
    <header className="thread-head">
      <h1 className="clip" title={thread.title}>
        {thread.title || thread.id}
      </h1>
      <span className="tag past-tag">past</span>
      <ThreadMark />
      {children}
      <button type="button" className="quiet aside-toggle" aria-expanded={aside} onClick={onAside}>
        Details
      </button>
    </header>
  );
}

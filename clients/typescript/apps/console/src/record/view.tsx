// A thread as it was behind one of its commits, with the way to the others.
import { type Client, emptyView, reduce } from "@spool/client";
import type { ThreadRecord } from "@spool/client/record";
import { SpoolProvider, useThreadState } from "@spool/react";
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { ThreadMark } from "../thread/marks.js";
import { Messages } from "../thread/page.js";
import { Panel } from "../thread/panel.js";
import { ReadOnly } from "../thread/read-only.js";
import { short } from "../ui/format.js";
import { AsOf } from "../ui/now.js";
import { Events } from "./events.js";
import { factsOf } from "./facts.js";
import { type Player, playerOf } from "./player.js";
import { Scrubber } from "./scrubber.js";

export interface RecordViewProps {
  /** The record. One that comes later is a newer one of the same thread. */
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

export function RecordView({ record: newest, client, start, onVersion, head, actions }: RecordViewProps): ReactNode {
  const [player] = useState(() => playerOf(newest, client, start));
  const [initialView] = useState(() => reduce(emptyView, player.record.at(player.version)));
  const version = useSyncExternalStore(player.subscribe, () => player.version);
  const record = useSyncExternalStore(player.subscribe, () => player.record);
  const follows = useSyncExternalStore(player.subscribe, () => player.follows);
  useEffect(() => {
    if (follows) {
      player.grow(newest);
    }
  }, [player, newest, follows]);
  const last = newest.versions.at(-1)?.version ?? 0;
  const newer = last - (record.versions.at(-1)?.version ?? 0);
  const facts = useMemo(() => factsOf(record), [record]);
  const here = facts.find((one) => one.version === version);
  const [aside, setAside] = useState(false);
  useEffect(() => onVersion?.(version), [onVersion, version]);
  // The address names the version of somebody who comes back.
  useEffect(() => {
    if (start !== null) {
      player.goTo(start, true);
    }
  }, [player, start]);
  return (
    <SpoolProvider client={player.client} persistence={false} initialView={initialView} threadId={record.thread.id}>
      <ReadOnly value={true}>
        <AsOf value={Date.parse(here?.at ?? record.thread.updatedAt)}>
          <div className="thread past" data-aside={aside}>
            <div className="talk">
              <Head past={version < last} aside={aside} onAside={() => setAside(!aside)}>
                {head}
              </Head>
              <Messages />
              <Scrubber player={player} facts={facts} version={version}>
                {newer > 0 && <Newer count={newer} onShow={() => showNewer(player, newest)} />}
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

/** The thread has gone on while somebody looks at another version. */
function Newer({ count, onShow }: { count: number; onShow: () => void }): ReactNode {
  return (
    <button type="button" className="newer num" onClick={onShow}>
      {`${short(count)} newer ${count === 1 ? "version" : "versions"} · Show`}
    </button>
  );
}

function showNewer(player: Player, newest: ThreadRecord): void {
  player.grow(newest);
  player.goTo(newest.versions.at(-1)?.version ?? 0);
}

interface HeadProps {
  /** There is a newer version than the one that is shown. */
  past: boolean;
  aside: boolean;
  onAside: () => void;
  children: ReactNode;
}

function Head({ past, aside, onAside, children }: HeadProps): ReactNode {
  const thread = useThreadState((state) => state.view.thread);
  return (
    <header className="thread-head">
      <h1 className="clip" title={thread.title}>
        {thread.title || thread.id}
      </h1>
      {past && <span className="tag past-tag">past</span>}
      <ThreadMark />
      {children}
      <button type="button" className="quiet aside-toggle" aria-expanded={aside} onClick={onAside}>
        Details
      </button>
    </header>
  );
}

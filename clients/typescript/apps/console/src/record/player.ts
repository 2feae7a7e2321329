// Shows a thread as it was: a client whose thread is a snapshot of a record, and another one when somebody moves. What
// is shown follows from the snapshots by the same function as that of a live thread.
import type { Client, Frame } from "@spool/client";
import type { ThreadRecord } from "@spool/client/record";

/** The position in a record. */
export interface Player {
  readonly record: ThreadRecord;
  readonly client: Client;
  readonly version: number;
  /** The newest version is shown, and the next one will be: somebody went to the end, or began there. */
  readonly follows: boolean;
  /** Goes on with a newer record of the same thread. What is shown stays, unless the player follows the end. */
  grow(record: ThreadRecord): void;
  /** Goes to a version, or to the nearest one that there is. One that is named stays, also if it is the last one. */
  goTo(version: number, named?: boolean): void;
  subscribe(changed: () => void): () => void;
}

/** Returns a player whose client is another one for everything but the thread. */
export function playerOf(opened: ThreadRecord, base: Client, start: number | null): Player {
  let record = opened;
  const last = () => record.versions.at(-1)?.version ?? 0;
  const within = (version: number) => Math.max(record.versions[0]?.version ?? 0, Math.min(last(), Math.round(version)));
  let version = within(start ?? last());
  let follows = start === null;
  const listeners = new Set<() => void>();
  const subscribe = (changed: () => void) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  };
  const tell = () => {
    for (const changed of listeners) {
      changed();
    }
  };
  return {
    get record() {
      return record;
    },
    get follows() {
      return follows;
    },
    grow(newer) {
      if (newer !== record) {
        record = newer;
        version = within(follows ? last() : version);
        tell();
      }
    },
    get version() {
      return version;
    },
    goTo(wanted, named = false) {
      const next = within(wanted);
      if (!Number.isNaN(next)) {
        const ahead = !named && next === last();
        const other = next !== version || follows !== ahead;
        version = next;
        follows = ahead;
        if (other) {
          tell();
        }
      }
    },
    subscribe,
    client: {
      ...base,
      history: async () => record.at(version),
      async *follow(_threadId, { signal } = {}): AsyncGenerator<Frame> {
        // Only the newest position counts, however fast somebody moves.
        let shown: number | null = null;
        while (!signal?.aborted) {
          if (shown !== version) {
            shown = version;
            yield { kind: "snapshot", snapshot: record.at(version) };
            continue;
          }
          await new Promise<void>((moved) => {
            const off = subscribe(go);
            signal?.addEventListener("abort", go);
            function go() {
              off();
              signal?.removeEventListener("abort", go);
              moved();
            }
          });
        }
      },
    },
  };
}

// Shows a thread as it was: a client whose thread is a snapshot of a record, and another one when somebody moves. What
// is shown follows from the snapshots by the same function as that of a live thread.
import type { Client, Frame } from "@spool/client";
import type { ThreadRecord } from "@spool/client/record";

/** The position in a record. */
export interface Player {
  readonly record: ThreadRecord;
  readonly client: Client;
  readonly version: number;
  /** Goes to a version, or to the nearest one that there is. */
  goTo(version: number): void;
  subscribe(changed: () => void): () => void;
}

/** Returns a player whose client is another one for everything but the thread. */
export function playerOf(record: ThreadRecord, base: Client, start: number | null): Player {
  const [first = 0, last = 0] = [record.versions[0]?.version, record.versions.at(-1)?.version];
  const within = (version: number) => Math.max(first, Math.min(last, Math.round(version)));
  let version = within(start ?? last);
  const listeners = new Set<() => void>();
  const subscribe = (changed: () => void) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  };
  return {
    record,
    get version() {
      return version;
    },
    goTo(wanted) {
      const next = within(wanted);
      if (next !== version && !Number.isNaN(next)) {
        version = next;
        for (const changed of listeners) {
          changed();
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

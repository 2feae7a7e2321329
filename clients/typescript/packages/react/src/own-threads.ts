// What the stores of a page know of their threads before a list of the server has it.
import { isActive, type Thread, type ThreadState } from "@spool/client";

interface Known {
  /** `null`: it is deleted. */
  readonly thread: Thread | null;
  readonly version: number;
}

/** The threads of the stores below a provider, for its lists of threads. */
export class OwnThreads {
  /** Grows with each change. */
  version = 0;
  readonly #known = new Map<string, Known>();
  readonly #listeners = new Set<() => void>();
  readonly #told = new WeakMap<object, ThreadState>();

  /** Calls a function after each change. The result ends that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes the state of a store. */
  told(store: object, state: ThreadState): void {
    const before = this.#told.get(store);
    this.#told.set(store, state);
    const { threadId, view } = state;
    if (threadId === null || (before?.threadId === threadId && before.view.thread === view.thread)) return;
    if (view.deleted) this.deleted(threadId);
    else if (view.thread.id === threadId) this.#put(threadId, view.thread as Thread);
    else if (before?.threadId === null) this.#put(threadId, begun(threadId, state)); // its first turn was accepted
  }

  /** Notes that a thread is gone. */
  deleted(threadId: string): void {
    if (this.#known.get(threadId)?.thread !== null) this.#put(threadId, null);
  }

  /**
   * Returns a list with what has changed since a version: deleted threads go, and the others stand in the order of their
   * changes, the newest first.
   */
  amend(list: readonly Thread[], since: number): readonly Thread[] {
    let out = list;
    for (const [id, { thread, version }] of this.#known) {
      if (version <= since) continue;
      const at = out.findIndex((t) => t.id === id);
      const [old] = at < 0 ? [] : out.slice(at, at + 1);
      if (thread === null) {
        out = at < 0 ? out : out.toSpliced(at, 1);
      } else if (!old || isNewer(thread, out[0])) {
        out = [{ ...old, ...thread }, ...out.filter((t) => t.id !== id)];
      } else {
        out = out.with(at, { ...old, ...thread });
      }
    }
    return out;
  }

  #put(id: string, thread: Thread | null): void {
    this.#known.delete(id); // the newest change comes last
    this.#known.set(id, { thread, version: ++this.version });
    for (const listener of [...this.#listeners]) listener();
  }
}

/** A thread whose snapshot is on its way. Its title is what the server makes of the first turn. */
function begun(id: string, { turns, view }: ThreadState): Thread {
  const [turn] = turns;
  const now = turn?.sentAt ?? new Date().toISOString();
  const state = isActive(view.thread.state) ? view.thread.state : "QUEUED";
  const title = (turn?.prompt ?? "").trim().split("\n", 1)[0]?.slice(0, 80) ?? "";
  return { id, state, title, model: "", createdAt: now, updatedAt: now } as Thread;
}

function isNewer(thread: Thread, than: Thread | undefined): boolean {
  return than === undefined || Date.parse(thread.updatedAt) > Date.parse(than.updatedAt);
}

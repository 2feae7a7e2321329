// What the runs in lists wait for. A list has states only: the inbox knows whom to ask, and the thread knows the rest. So
// a thread is read once for each change of it, one after another, and only while its run waits for something else.
import { emptyView, reduce, SpoolError } from "@spool/client";
import { useEffect, useSyncExternalStore } from "react";
import { useInbox } from "../inbox/store.js";
import { client } from "../session.js";
import { type Wait, type WaitingRun, type Waits, waitOf } from "../thread/wait.js";

const most = 1000;
/** What a thread waits for, by its id and mark. Null: it is not known yet, or may not be read. */
const known = new Map<string, Waits | null>();
/** What is to be read: the keys, and the threads that they are about. */
const wanted = new Map<string, string>();
const listeners = new Set<() => void>();
let reading = false;

/** Wants to know what a thread waits for. */
function want(key: string, threadId: string): void {
  if (known.has(key)) {
    return;
  }
  if (known.size >= most) {
    known.clear();
  }
  known.set(key, null);
  wanted.set(key, threadId);
  if (!reading) {
    reading = true;
    void readAll().finally(() => {
      reading = false;
    });
  }
}

async function readAll(): Promise<void> {
  for (const [key, threadId] of wanted) {
    wanted.delete(key);
    try {
      const { thread, parks, pending, retry } = reduce(emptyView, await client.history(threadId, { limit: 1 }));
      known.set(key, { thread, parks, pending, retry });
    } catch (error) {
      if (!(error instanceof SpoolError && error.status !== undefined && error.status < 500)) {
        known.delete(key); // it is asked for again when the inbox has been read
      }
    }
    for (const changed of listeners) {
      changed();
    }
  }
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/**
 * Returns what a thread or a run of it waits for, or null as long as that is not known. The mark is everything that the
 * list says of it and that changes with a wait.
 */
export function useWait(threadId: string, state: string, mark: string, run?: WaitingRun): Wait | null {
  const inbox = useInbox();
  const key = `${threadId} ${mark}`;
  const waits = useSyncExternalStore(subscribe, () => known.get(key) ?? null);
  const may = state === "WAITING_FOR_INPUT" || state === "QUEUED";
  const asks =
    state === "WAITING_FOR_INPUT" &&
    inbox.questions.some(
      (one) =>
        one.threadId === threadId && (run === undefined || run.id === one.runId || run.id === (one.agentId ?? "")),
    );
  useEffect(() => {
    if (may && !asks && !inbox.loading) {
      want(key, threadId);
    }
  }, [key, threadId, may, asks, inbox]);
  if (asks) {
    return { asks, text: "needs you" };
  }
  return may && waits !== null ? waitOf(waits, run) : null;
}

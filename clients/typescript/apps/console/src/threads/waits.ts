// What the runs in lists wait for. A list has states only: the inbox knows whom to ask, and the thread knows the rest. So
// a thread is read once for each change of it, one after another, and only while its run waits for something else.
import { emptyView, reduce, SpoolError } from "@spool/client";
import { useEffect, useSyncExternalStore } from "react";
import { useInbox } from "../inbox/store.js";
import { client } from "../session.js";
import { isOlder, type Listed, type Wait, type WaitingRun, type Waits, waitOf } from "../thread/wait.js";

const most = 1000;
/** What a thread waits for, by its id and mark. Null: it is not known yet, or may not be read. */
const known = new Map<string, Waits | null>();
/** What is to be read, by its key. */
const wanted = new Map<string, Listed>();
const listeners = new Set<() => void>();
let reading = false;

/** Wants to know what a thread waits for. */
function want(key: string, listed: Listed): void {
  if (known.has(key)) {
    return;
  }
  if (known.size >= most) {
    known.clear();
  }
  known.set(key, null);
  wanted.set(key, listed);
  if (!reading) {
    void readAll();
  }
}

async function readAll(): Promise<void> {
  reading = true;
  for (const [key, listed] of wanted) {
    wanted.delete(key);
    try {
      const view = reduce(emptyView, await client.history(listed.threadId, { limit: 1 }));
      const { thread, parks, pending, retry } = view;
      if (isOlder(view, listed)) {
        known.delete(key); // it is asked for again when the inbox has been read
      } else {
        known.set(key, { thread, parks, pending, retry });
      }
    } catch (error) {
      if (!(error instanceof SpoolError && error.status !== undefined && error.status < 500)) {
        known.delete(key); // it is asked for again when the inbox has been read
      }
    }
    for (const changed of listeners) {
      changed();
    }
  }
  reading = false; // in the same turn as the last look at what is wanted
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/**
 * Returns what a thread or a run of it waits for, or null as long as that is not known. The mark is everything that the
 * list says of it and that changes with a wait.
 */
export function useWait(listed: Listed, state: string, mark: string, run?: WaitingRun): Wait | null {
  const inbox = useInbox();
  const { threadId } = listed;
  const key = `${threadId} ${mark}`;
  const waits = useSyncExternalStore(subscribe, () => known.get(key) ?? null);
  const may = state === "WAITING_FOR_INPUT" || state === "QUEUED";
  const asks =
    state === "WAITING_FOR_INPUT" &&
    inbox.questions.some(
      (one) =>
        one.threadId === threadId && (run === undefined || run.id === one.runId || run.id === (one.agentId ?? "")),
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key has what the list says
  useEffect(() => {
    if (may && !asks && !inbox.loading) {
      want(key, listed);
    }
  }, [key, may, asks, inbox]);
  if (asks) {
    return { asks, text: "needs you" };
  }
  return may && waits !== null ? waitOf(waits, run) : null;
}

// The record of a thread, read again while the thread goes on.
import { readRecord, type ThreadRecord } from "@spool/client/record";
import { useRef } from "react";
import { client } from "../session.js";
import { type Polled, usePoll } from "../ui/poll.js";

/** A record that was read. */
export interface Opened {
  readonly record: ThreadRecord;
  /** The record as it came, to save. */
  readonly blob: Blob;
  /** Another text when the thread has changed. */
  readonly mark: string;
}

const every = 2000;
/** A large record is read so seldom that the page does something else for most of the time. */
const idle = 10;

/** Reads the record of a thread, and again whenever the thread has changed. */
export function useNewest(threadId: string): Polled<Opened> {
  const last = useRef<Opened>(null);
  const notBefore = useRef(0);
  return usePoll(`record ${threadId}`, every, async (signal) => {
    const known = last.current?.record.thread.id === threadId ? last.current : null;
    const began = performance.now();
    if (known !== null && began < notBefore.current) {
      return known;
    }
    // The mark is read first: what changes meanwhile gives another one the next time.
    const mark = await markOf(threadId, signal);
    if (known?.mark === mark) {
      return known;
    }
    const answer = await client.record(threadId, { signal });
    const blob = await answer.blob();
    const opened = { record: await readRecord(blob, { signal }), blob, mark };
    const ended = performance.now();
    notBefore.current = ended + idle * (ended - began);
    last.current = opened;
    return opened;
  });
}

/** Everything of a small snapshot that changes with a version of the thread. */
async function markOf(threadId: string, signal: AbortSignal): Promise<string> {
  const { thread, runs, queue, lastEventSeq } = await client.history(threadId, { limit: 1, signal });
  const states = runs.map((run) => [run.id, run.state, run.steps, run.attempts, run.totalTokens]);
  return JSON.stringify([thread, lastEventSeq, states, queue]);
}

// A thread as a file, and a file as a thread.
import { emptyView, reduce, type Snapshot, SpoolError, type ThreadView } from "@spool/client";
import { readRecord, type ThreadRecord } from "@spool/client/record";
import { client } from "../session.js";

/** Saves the record of a thread as a file that the console opens again, without a server. */
export async function saveRecord(threadId: string): Promise<void> {
  const answer = await client.record(threadId);
  saveFile(threadId, await answer.blob());
}

/** Saves the record of a thread that has been read. */
export function saveFile(threadId: string, record: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(record);
  link.download = `${threadId.replace(/[^\w.-]+/g, "_")}.ndjson`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What a file has: a thread with all its states, or with one. */
export type Opened = { readonly record: ThreadRecord } | { readonly view: ThreadView };

const kinds =
  "The console opens records, which it and `spool run export` write, and answers of GET /api/agent/history.";

/** Opens a file. */
export async function openFile(file: Blob): Promise<Opened> {
  try {
    return { record: await readRecord(file) };
  } catch (error) {
    if (error instanceof SpoolError && error.reason === "not_a_record") {
      return { view: openSnapshot(await file.text()) };
    }
    throw error;
  }
}

/** Returns the thread of an answer of GET /api/agent/history. */
function openSnapshot(text: string): ThreadView {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`The file is not a thread. ${kinds}`);
  }
  const snapshot = value as Partial<Snapshot>;
  if (typeof snapshot?.thread?.id !== "string" || !Array.isArray(snapshot.messages) || !Array.isArray(snapshot.runs)) {
    throw new Error(`The file is not a thread. ${kinds}`);
  }
  return reduce(emptyView, snapshot as Snapshot);
}

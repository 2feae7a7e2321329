// A thread as a file, and a file as a thread.
import { emptyView, reduce, type Snapshot, type ThreadView } from "@spool/client";
import { client } from "../session.js";

/** Saves a thread as a file that the console opens again, without a server. */
export async function saveSnapshot(threadId: string): Promise<void> {
  const snapshot = await client.history(threadId);
  const blob = new Blob([JSON.stringify(snapshot)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${threadId.replace(/[^\w.-]+/g, "_")}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Returns the thread of a file: what `GET /api/agent/history` answers, which is also what `saveSnapshot` writes. */
export function openSnapshot(text: string): ThreadView {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(
      "The file is not JSON. The console opens threads that it has saved, and answers of GET /api/agent/history.",
    );
  }
  const snapshot = value as Partial<Snapshot>;
  if (typeof snapshot?.thread?.id !== "string" || !Array.isArray(snapshot.messages) || !Array.isArray(snapshot.runs)) {
    throw new Error(
      "The file is not a thread. The console opens threads that it has saved, and answers of GET /api/agent/history.",
    );
  }
  return reduce(emptyView, snapshot as Snapshot);
}

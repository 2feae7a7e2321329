// A file for "spool import" with one thread, so that a long one need not be spoken first. docs/operations/moving.md has
// its format.
import { createHash } from "node:crypto";

/** A message of the thread, with its content as on the wire. */
export interface Written {
  role: "user" | "assistant" | "tool";
  content: unknown;
}

/** Returns the file. Each turn of the user begins a run, which is over, and the record has both. */
export function archiveOf(threadId: string, messages: readonly Written[]): string {
  const at = Date.parse("2026-01-01T00:00:00Z") * 1000; // microseconds
  const ended = {
    agent: "assistant",
    model: "peer",
    state: "COMPLETED",
    stop_reason: "completed",
    steps: 1,
    segments: 1,
  };
  const runs: object[] = [];
  const rows: object[] = [];
  const entries: object[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    const time = at + i * 1_000_000;
    const begins = role === "user";
    const ord = runs.length + (begins ? 1 : 0);
    const id = `run_${ord}`;
    if (begins) {
      runs.push({ run: { ord, id, created_at: time, started_at: time, ended_at: time, ...ended } });
      const segment = { runId: id, streamId: `${id}:1`, segment: 1 };
      const entry = (seq: number, type: string, payload: object) =>
        entries.push({ entry: { seq, type, run_id: id, payload: JSON.stringify(payload), created_at: time } });
      entry(2 * ord - 1, "RUN_STARTED", segment);
      entry(2 * ord, "RUN_ENDED", { ...segment, status: "finished" });
    }
    rows.push({
      message: {
        ord: i + 1,
        id: `msg_${i + 1}`,
        role,
        content: JSON.stringify(content),
        created_at: time,
        run_id: id,
        after_seq: begins ? 2 * ord - 2 : 2 * ord - 1,
      },
    });
  }
  const thread = { state: "COMPLETED", model: "peer", title: threadId, created_at: at, updated_at: at };
  const last = { run_id: `run_${runs.length}`, last_seq: entries.length, fence: runs.length };
  const section = [
    { section: { kind: "thread", tenant: "default", name: threadId } },
    { thread: { ...thread, ...last } },
    ...runs,
    ...rows,
    ...entries,
  ];
  const lines = section.map((line) => `${JSON.stringify(line)}\n`).join("");
  const sha256 = hash(lines);
  const header = { format: 1, version: "test", source: "sqlite", at: "2026-01-01T00:00:00Z", sections: 1 };
  return [
    JSON.stringify({ spoolExport: header }),
    `${lines}${JSON.stringify({ end: { rows: section.length - 1, sha256 } })}`,
    JSON.stringify({ done: { sections: 1, sha256: hash(`${sha256}\n`) } }),
    "",
  ].join("\n");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

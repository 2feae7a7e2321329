// A record to test with: two turns, a question, an edit and a branch that came back.
const at = (s: number) => `2026-11-28T10:00:${String(s).padStart(2, "0")}.5Z`;
const thread = (state: string, more: object = {}) => ({
  id: "t1",
  state,
  model: "demo",
  title: "Hello",
  createdAt: at(0),
  updatedAt: at(30),
  ...more,
});
const run = (id: string, state: string, more: object = {}) => ({
  id,
  threadId: "t1",
  depth: 0,
  agent: "helper",
  model: "demo",
  state,
  enqueuedAt: at(1),
  startedAt: at(2),
  steps: 0,
  attempts: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  ...more,
});
const message = (id: string, role: string, content: unknown, runId: string) => ({
  id,
  threadId: "t1",
  role,
  content,
  createdAt: at(1),
  agentId: null,
  runId,
});
/** When each entry was written. */
const written = [0, 2, 3, 6, 7, 7, 8, 9, 9];
const entry = (seq: number, type: string, runId: string, payload: object = {}) => ({
  threadId: "t1",
  seq,
  type,
  runId,
  payload,
  createdAt: at(written[seq] ?? 0),
});

/** What each commit changed, from version 1. */
const changes = [
  { seq: 0, at: at(1), thread: thread("QUEUED"), runId: "r1", runs: [run("r1", "QUEUED")], view: [{ add: ["m1"] }] },
  { seq: 1, at: at(2), thread: thread("RUNNING"), runId: "r1", runs: [run("r1", "RUNNING")] },
  {
    seq: 2,
    at: at(3),
    thread: thread("WAITING_FOR_INPUT"),
    runId: "r1",
    runs: [run("r1", "WAITING_FOR_INPUT", { steps: 1, totalTokens: 7, tokenBudget: 100 })],
    view: [{ add: ["m2"] }],
    parks: [{ runId: "r1", toolCallId: "c1", state: "open" }],
  },
  {
    seq: 2,
    at: at(4),
    runs: [
      run("r2", "QUEUED", {
        place: 5,
        enqueuedAt: at(4),
        wait: { whenBusy: "enqueue", content: "Me too", clientMessageId: "k" },
      }),
    ],
  },
  {
    seq: 2,
    at: at(5),
    runs: [run("r3", "QUEUED", { place: 3, enqueuedAt: at(5), wait: { whenBusy: "steer", content: "First" } })],
  },
  {
    seq: 3,
    at: at(6),
    thread: thread("QUEUED"),
    runId: "r1",
    parks: [{ runId: "r1", toolCallId: "c1", state: "answered" }],
  },
  {
    seq: 5,
    at: at(7),
    thread: thread("CANCELLED"),
    runId: "r1",
    runs: [
      run("r1", "CANCELLED", { steps: 1, totalTokens: 7, tokenBudget: 100, endedAt: "2026-11-28T10:00:07.0009999Z" }),
      run("r2", "CANCELLED", { enqueuedAt: at(4), endedAt: at(7) }),
      run("r3", "CANCELLED", { enqueuedAt: at(5), endedAt: at(7) }),
    ],
    view: [{ add: ["m3"] }],
  },
  {
    seq: 6,
    at: at(8),
    thread: thread("COMPLETED"),
    runId: "r4",
    runs: [run("r4", "COMPLETED")],
    view: [{ drop: 6, from: "m1" }, { add: ["m4"] }],
  },
  {
    seq: 8,
    at: at(9),
    view: [
      { drop: 7, from: "m4" },
      { restore: 6, from: "m1" },
    ],
  },
];

/** The lines of the file, of an older one too, whose first versions are missing. */
export function lines(skip = 0): string[] {
  const deltas = changes.slice(skip).map((change, i) => ({ version: i + 1, ...change }));
  return [
    { kind: "thread", format: "spool.record", formatVersion: 1, thread: thread("COMPLETED"), runId: "r4" },
    ...["r1", "r2", "r3", "r4"].map((id) => ({ kind: "run", run: run(id, "COMPLETED") })),
    { kind: "message", message: message("m1", "user", "Hello", "r1") },
    { kind: "message", message: message("m2", "assistant", "I ask", "r1") },
    { kind: "message", message: message("m3", "tool", "result", "r1") },
    { kind: "message", branch: 7, message: message("m4", "user", "Hello again", "r4") },
    { kind: "later", of: "another format" },
    { kind: "entry", entry: entry(1, "RUN_STARTED", "r1", { runId: "r1", segment: 1 }) },
    { kind: "entry", entry: entry(2, "INPUT_REQUIRED", "r1", { toolCallId: "c1", toolName: "send", later: 1 }) },
    { kind: "entry", entry: entry(3, "HITL_RESPONSE", "r1", { toolCallId: "c1", approved: true }) },
    { kind: "entry", entry: entry(4, "RUN_STARTED", "r1", { runId: "r1", segment: 2 }) },
    { kind: "entry", entry: entry(5, "RUN_ENDED", "r1", { runId: "r1", segment: 2, status: "stopped" }) },
    { kind: "entry", entry: entry(6, "MESSAGES_DROPPED", "r4", { fromMessageId: "m1" }) },
    { kind: "entry", entry: entry(7, "MESSAGES_DROPPED", "", { fromMessageId: "m4" }) },
    { kind: "entry", entry: entry(8, "MESSAGES_RESTORED", "", { branchId: 6, fromMessageId: "m1", count: 3 }) },
    ...deltas.map((delta) => ({ kind: "delta", delta })),
    { kind: "end", version: deltas.length },
  ].map((line) => JSON.stringify(line));
}

// Runs that end while a store is away, without an entry that says how.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { snapshotOf } from "../testing/index.js";
import type { Run } from "../wire.js";
import { pass, setup } from "./setup.test-util.js";

const at = "2026-11-21T09:30:00Z";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse(at) });
});
afterEach(() => {
  vi.useRealTimers();
});

const history = "GET /api/agent/history";
const run = (id: string, fields: Partial<Run>) =>
  ({ id, threadId: "t1", depth: 0, agent: "a", model: "m", startedAt: at, totalTokens: 0, ...fields }) as Run;
const ended = (id: string, fields: Partial<Run> = {}) =>
  run(id, { state: "COMPLETED", stopReason: "completed", endedAt: at, totalTokens: 7, ...fields });

/** A store that has seen the run r1 begin, and then was away. The snapshot has what became of it. */
async function away(runs: readonly Run[]) {
  const b = await setup();
  b.thread.state("QUEUED").start("r1").text("One");
  await pass(100);
  b.thread.end();
  b.thread.snapshot = snapshotOf("t1", { state: "RUNNING", runs: [...runs] });
  const asked = b.server.sent(history).length;
  return {
    ...b,
    /** The runs that are shown. */
    runs: () =>
      b.store.getSnapshot().view.runs.map(({ id, state, endedAt, totalTokens }) => [id, state, endedAt, totalTokens]),
    asked: () => b.server.sent(history).length - asked,
  };
}

test.each([
  ["was lost", { status: "lost" }],
  ["waited for another attempt", { status: "error", error: "overloaded", retryAfterMs: 2000 }],
  ["failed", { status: "error", error: "bad request" }],
])("a run whose last segment %s", async (_, end) => {
  const was = ended("r1", { state: "FAILED", stopReason: "failed" });
  const b = await away([run("r9", { state: "RUNNING" }), was]);
  b.thread.entry("RUN_ENDED", { runId: "r1", streamId: "r1:1", segment: 1, ...end });
  b.thread.start("r9").text("Nine");
  await pass(900); // the entries have come
  expect(b.asked()).toBe(0);
  await pass(5_000);
  expect(b.runs()).toEqual([
    ["r9", "RUNNING", undefined, 0],
    ["r1", "FAILED", at, 7],
  ]);
  expect(b.asked()).toBe(1);
  b.thread.text(" more").cut();
  await pass(60_000);
  expect(b.asked()).toBe(1); // it is told
  b.store.close();
});

test("runs that came and went", async () => {
  const b = await away([run("r9", { state: "QUEUED" }), ended("r3"), ended("r1")]);
  const { thread } = b;
  thread.entry("RUN_ENDED", { runId: "r1", streamId: "r1:1", segment: 1, status: "finished" });
  thread.entry("RUN_STARTED", { runId: "r3", streamId: "r3:1", segment: 1 });
  thread.entry("RUN_ENDED", { runId: "r3", streamId: "r3:1", segment: 1, status: "finished" });
  thread.state("QUEUED", { runId: "r9" }); // it has not begun
  await pass(10_000);
  expect(b.runs().sort()).toEqual([
    ["r1", "COMPLETED", at, 7],
    ["r3", "COMPLETED", at, 7],
    ["r9", "QUEUED", undefined, 0],
  ]);
  expect(b.asked()).toBe(1);
  b.store.close();
});

test("a server that fails is asked again, and one that does not know it is not", async () => {
  const b = await away([run("r9", { state: "RUNNING" })]);
  b.server.answer(history, { status: 503, body: {} }, 1);
  b.thread.entry("RUN_ENDED", { runId: "r1", streamId: "r1:1", segment: 1, status: "lost" });
  b.thread.start("r9");
  await pass(120_000);
  const asked = b.asked();
  expect(asked).toBeGreaterThan(1);
  b.thread.text("Nine");
  await pass(120_000);
  expect(b.asked()).toBe(asked);
  expect(b.runs()).toContainEqual(["r1", "RUNNING", undefined, 0]);
  b.store.close();
});

test("a store that sees everything does not ask", async () => {
  const b = await setup();
  const before = b.server.sent(history).length;
  for (const id of ["r1", "r2", "r3"]) {
    b.thread.start(id);
    b.thread.state("RUNNING", { queue: [{ runId: "q1", position: 1, whenBusy: "enqueue" }] });
    b.thread.item("SUBAGENT_STARTED", { subagentId: `n${id}`, name: "clerk", depth: 1, parentRunId: id });
    b.thread.item("SUBAGENT_FINISHED", { subagentId: `n${id}`, status: "completed" });
    b.thread.text("Said").step().finish();
  }
  await pass(60_000);
  expect(b.state.view.runs).toHaveLength(6);
  expect(b.server.sent(history)).toHaveLength(before);
  b.store.close();
});

test("a host without times is asked once", async () => {
  const { endedAt: _, ...undated } = ended("r1");
  const b = await away([run("r9", { state: "RUNNING" }), undated as Run]);
  const end = (runId: string) =>
    b.thread.entry("RUN_ENDED", { runId, streamId: `${runId}:1`, segment: 1, status: "finished" });
  end("r1").start("r9");
  await pass(60_000);
  expect(b.asked()).toBe(1);
  b.thread.end();
  end("r9").start("r10");
  await pass(60_000);
  expect(b.runs()).toContainEqual(["r9", "COMPLETED", undefined, 0]);
  expect(b.asked()).toBe(1);
  b.store.close();
});

test("a nested run that goes on in a run that is over", async () => {
  const b = await away([ended("r1"), ended("n1", { depth: 1, parentRunId: "r1" })]);
  b.thread.item("SUBAGENT_STARTED", { subagentId: "n1", name: "clerk", depth: 1, parentRunId: "r1" });
  b.thread.state("FAILED", { endedAt: at });
  await pass(10_000);
  expect(b.runs()).toContainEqual(["n1", "COMPLETED", at, 7]);
  b.store.close();
});

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { snapshotOf } from "../testing/index.js";
import { pass, setup, shown } from "./setup.test-util.js";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:30:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an answer", () => {
  test("has the digest of the question that is shown, and the question stays until the server says otherwise", async () => {
    const b = await setup();
    b.thread
      .state("QUEUED")
      .turn("m1", "Hello")
      .start()
      .park("c1")
      .entry("INPUT_REQUIRED", { toolCallId: "c2", toolName: "pay" });
    await pass();
    expect(b.state.view.parks.map((p) => p.toolCallId)).toEqual(["c1", "c2"]);
    const answered = b.store.respond("c1", { approved: true, arguments: { to: "eve" }, reason: "Ann has left" });
    expect(b.state.answering).toEqual(["c1"]);
    expect(await b.store.respond("c1", { approved: false })).toMatchObject({
      ok: false,
      error: { reason: "already_answered" },
    });
    expect(await answered).toEqual({ ok: true });
    expect(b.server.sent("POST /api/agent/respond")[0]?.body).toEqual({
      threadId: "t1",
      toolCallId: "c1",
      approved: true,
      arguments: { to: "eve" },
      reason: "Ann has left",
      digest: "sha256:c1",
    });
    expect(b.state.answering).toEqual(["c1"]);
    b.thread.entry("HITL_RESPONSE", { toolCallId: "c1", approved: true });
    await pass();
    expect(b.state.view.parks.map((p) => p.toolCallId)).toEqual(["c2"]);
    expect(b.state.answering).toEqual([]);
  });

  test.each([
    ["an approval", "approval", { approved: true }],
    ["an approval that is denied", "approval", { approved: false, reason: "not on a Friday" }],
    ["a call whose outcome is unknown", "outcome_unknown", { approved: false, payload: { sent: true } }],
    ["a budget", "budget_reached", { approved: true, payload: { tokenBudget: 5000 } }],
    ["a tool of the client", "client_tool", { approved: true, payload: "Solaris" }],
    ["a tool's own question", "job", { approved: true, payload: { done: true } }],
    ["a form of an MCP server", "elicitation", { approved: true, payload: { name: "Ann" } }],
  ])("goes to %s", async (_, reason, answer) => {
    const b = await setup();
    b.thread.start().park("c1", { reason });
    await pass();
    expect(b.state.view.parks[0]).toMatchObject({ reason, runId: "r1", askedAt: "2026-11-21T09:30:00Z" });
    expect(await b.store.respond("c1", answer)).toEqual({ ok: true });
    expect(b.server.sent("POST /api/agent/respond")[0]?.body).toEqual({
      threadId: "t1",
      toolCallId: "c1",
      digest: "sha256:c1",
      ...answer,
    });
  });

  test("that does not count leaves the question", async () => {
    const b = await setup();
    b.thread.start().park("c1");
    await pass();
    const { parks } = b.state.view;
    b.server.answer("POST /api/agent/respond", {
      status: 409,
      body: { delivered: false, reason: "changed", error: "the question has changed" },
    });
    expect(await b.store.respond("c1", { approved: true })).toMatchObject({ ok: false, error: { reason: "changed" } });
    expect(b.state.view.parks).toBe(parks);
    expect(b.state).toMatchObject({ answering: [], error: { message: "the question has changed" } });
    b.server.answer("POST /api/agent/respond", {
      status: 400,
      body: { error: "payload.tokenBudget must be larger than the 450 that are spent", code: "invalid" },
    });
    expect(await b.store.respond("c1", { approved: true })).toMatchObject({
      ok: false,
      error: { code: "invalid", field: "payload.tokenBudget" },
    });
  });

  test("whose notice a host has lost is found in the snapshot", async () => {
    const b = await setup();
    b.thread.start().park("c1");
    await pass();
    await b.store.respond("c1", { approved: true });
    b.thread.snapshot = snapshotOf("t1", { state: "RUNNING", lastEventSeq: 3 });
    await pass(6_000);
    expect(b.state.view.parks).toEqual([]);
  });

  test.each([{ ok: true }, { delivered: true }])("counts if a host says %j", async (body) => {
    const b = await setup();
    b.thread.start().park("c1");
    b.server.answer("POST /api/agent/respond", { body });
    expect(await b.store.respond("c1", { approved: true })).toEqual({ ok: true });
  });

  test.each([{}, { ok: false }, { delivered: false }])("does not count if a host says %j", async (body) => {
    const b = await setup();
    b.thread.start().park("c1");
    b.server.answer("POST /api/agent/respond", { body });
    expect(await b.store.respond("c1", { approved: true })).toMatchObject({ ok: false });
  });
});

describe("a stop", () => {
  test("changes the state when the server says so", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start().text("Hi");
    await pass();
    const stopped = b.store.stop();
    expect(b.state.stopping).toBe(true);
    expect(await stopped).toEqual({ ok: true });
    expect(b.state).toMatchObject({ stopping: false, view: { thread: { state: "RUNNING" } } });
    b.thread.finish("stopped");
    await pass();
    expect(b.state.view.thread.state).toBe("CANCELLED");
    await b.store.stop("r9");
    expect(b.server.sent("POST /api/agent/control").map((r) => r.body)).toEqual([
      { threadId: "t1" },
      { threadId: "t1", runId: "r9" },
    ]);
  });

  test("that fails says why", async () => {
    const b = await setup();
    b.server.answer("POST /api/agent/control", {
      status: 409,
      body: { accepted: false, error: "Cannot stop thread in state IDLE" },
    });
    expect(await b.store.stop()).toMatchObject({
      ok: false,
      error: { message: "Cannot stop thread in state IDLE", code: "conflict" },
    });
    expect(b.state.stopping).toBe(false);
  });
});

describe("branches", () => {
  test("are kept current once they are loaded", async () => {
    const b = await setup();
    let n = 0;
    b.server.answer("GET /api/agent/branches", () => ({ body: { branches: [{ id: ++n }] } }));
    b.thread.turn("m1", "Hello").entry("MESSAGES_DROPPED", { fromMessageId: "m1" });
    await pass();
    expect(b.state.branches).toBe(null);
    await b.store.loadBranches();
    expect(b.state.branches).toEqual([{ id: 1 }]);
    b.thread.entry("MESSAGES_DROPPED", { fromMessageId: "m1" });
    await pass();
    expect(b.state.branches).toEqual([{ id: 2 }]);
  });

  test("are restored", async () => {
    const b = await setup();
    expect(await b.store.restoreBranch(3)).toEqual({ ok: true });
    expect(b.server.sent("POST /api/agent/branches/restore")[0]?.body).toEqual({ threadId: "t1", branchId: 3 });
    b.server.answer("POST /api/agent/branches/restore", {
      status: 409,
      body: { accepted: false, branchId: 3, reason: "active_run", error: "busy" },
    });
    expect(await b.store.restoreBranch(3)).toMatchObject({ ok: false, error: { reason: "active_run" } });
    const messages = [
      { id: "m1", threadId: "t1", role: "user", content: "Old", createdAt: "2026-11-21T09:30:00Z", agentId: null },
    ];
    b.thread.entry("MESSAGES_RESTORED", { branchId: 3, fromMessageId: "m1", count: 1 });
    b.thread.frame({ kind: "snapshot", snapshot: snapshotOf("t1", { messages: messages as never, lastEventSeq: 1 }) });
    await pass();
    expect(shown(b.state)).toBe("Old");
  });
});

test("a thread is deleted, and an empty one is shown", async () => {
  const b = await setup();
  b.server.answer(
    "DELETE /api/threads",
    { status: 409, body: { accepted: false, error: "Thread has an active run", code: "conflict" } },
    1,
  );
  expect(await b.store.delete()).toMatchObject({ ok: false, error: { message: "Thread has an active run" } });
  expect(b.state.threadId).toBe("t1");
  b.server.answer("DELETE /api/threads", { status: 404, body: { error: "Thread not found" } });
  expect(await b.store.delete()).toEqual({ ok: true });
  expect(b.state).toMatchObject({ threadId: null, error: null });
});

test("the usage is read again when a step or a run ends, once it was asked for", async () => {
  const b = await setup();
  let n = 0;
  b.server.answer("GET /api/agent/usage", () => ({ body: { model: `m${++n}` } }));
  b.thread.start().finish();
  await pass();
  expect(b.state.usage).toBe(null);
  await b.store.loadUsage();
  b.thread.start("r2");
  await pass();
  expect(b.state.usage).toEqual({ model: "m1" });
  b.thread.text("Hi").step();
  await pass();
  expect(b.state.usage).toEqual({ model: "m2" });
  expect(b.state.view.runs[0]).toMatchObject({ id: "r2", steps: 1, totalTokens: 2 });
  b.thread.finish();
  await pass();
  expect(b.state.usage).toEqual({ model: "m3" });
});

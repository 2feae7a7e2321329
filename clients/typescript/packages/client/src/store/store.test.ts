import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../client.js";
import { emptyView, reduce } from "../reduce/reduce.js";
import { scriptedServer, snapshotOf } from "../testing/index.js";
import type { Message, Snapshot } from "../wire.js";
import { pass, setup, shown } from "./setup.test-util.js";
import { createThreadStore } from "./store.js";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:30:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

const message = (id: string, content: string, fields: Partial<Message> = {}): Message => ({
  id,
  threadId: "t1",
  role: "user",
  content,
  createdAt: "2026-11-21T09:30:00Z",
  agentId: null,
  ...fields,
});

describe("a store", () => {
  test("connects when somebody subscribes, and shows the thread live", async () => {
    const server = scriptedServer();
    server.thread("t1").snapshot = snapshotOf("t1", { state: "COMPLETED", messages: [message("m1", "Hello")] });
    const store = createThreadStore(createClient({ baseUrl: "http://spool.test", fetch: server.fetch }), {
      threadId: "t1",
    });
    await pass();
    expect(server.requests.length).toBe(0);
    expect(store.getSnapshot()).toMatchObject({ loading: true, connection: "connecting", threadId: "t1" });
    const end = store.subscribe(() => {});
    await pass();
    expect(store.getSnapshot()).toMatchObject({ loading: false, connection: "open" });
    expect(shown(store.getSnapshot())).toBe("Hello");
    server.thread("t1").state("QUEUED").turn("m2", "More").start().text("One").text(" two");
    await pass();
    expect(shown(store.getSnapshot())).toBe("Hello | More | One two");
    server.thread("t1").step().finish();
    await pass();
    expect(store.getSnapshot().view.thread.state).toBe("COMPLETED");
    expect(store.getSnapshot().view.drafts).toEqual([]);
    end();
    store.close();
    await pass();
    expect(store.getSnapshot().connection).toBe("closed");
    expect(server.thread("t1").connections).toBe(0);
  });

  test("tells its listeners once for all that arrives in a frame, and a token changes one message", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start().text("One");
    await pass();
    const before = b.state;
    const told = b.states.length;
    for (let i = 0; i < 50; i++) b.thread.text(".");
    await pass();
    expect(b.states.length).toBe(told + 1);
    expect(b.state).not.toBe(before);
    expect(b.state.messages).toBe(before.messages);
    expect(b.state.view.runs).toBe(before.view.runs);
    expect(b.state.view.parks).toBe(before.view.parks);
    expect(b.state.view.drafts[0]).not.toBe(before.view.drafts[0]);
    const draft = b.state.view.drafts[0];
    b.thread.step();
    await pass();
    expect(b.state.messages.at(-1)).toBe(draft);
  });

  test("closes and goes on from where it was", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start().text("One");
    await pass();
    b.store.close();
    b.thread.text(" two");
    await pass();
    expect(shown(b.state)).toBe("Hello | One");
    b.store.subscribe(() => {});
    await pass();
    expect(shown(b.state)).toBe("Hello | One two");
    expect(b.server.sent("GET /api/agent/history").length).toBe(1);
  });

  test("goes on from the view of a server", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("QUEUED").turn("m1", "Hello").start().text("One");
    const frame = { kind: "snapshot", snapshot: snapshotOf("t1"), cursor: "1 r1:1 1-3" } as const;
    const view = JSON.parse(JSON.stringify(reduce(emptyView, frame)));
    const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
    const store = createThreadStore(client, { threadId: "t1", initialView: view });
    expect(store.getSnapshot().loading).toBe(false);
    store.subscribe(() => {});
    thread.text(" two");
    await pass();
    expect(server.sent("GET /api/agent/history").length).toBe(0);
    expect(shown(store.getSnapshot())).toBe(" two");
    store.close();
  });

  test("reads the snapshot until it gets one", async () => {
    const server = scriptedServer();
    server.thread("t1").snapshot = snapshotOf("t1");
    server.answer("GET /api/agent/history", "network", 6);
    const store = createThreadStore(createClient({ baseUrl: "http://spool.test", fetch: server.fetch, retries: 0 }), {
      threadId: "t1",
    });
    store.subscribe(() => {});
    await pass();
    expect(store.getSnapshot()).toMatchObject({ loading: true, connection: "reconnecting", error: null });
    await pass(120_000);
    expect(store.getSnapshot()).toMatchObject({ loading: false, connection: "open" });
    store.close();
  });

  test("says why it cannot show a thread, and tries again when it is told to", async () => {
    const server = scriptedServer();
    server.thread("t1").snapshot = snapshotOf("t1");
    server.answer(
      "GET /api/agent/history",
      { status: 403, body: { error: "scope read is missing", code: "forbidden" } },
      1,
    );
    const store = createThreadStore(createClient({ baseUrl: "http://spool.test", fetch: server.fetch }), {
      threadId: "t1",
    });
    store.subscribe(() => {});
    await pass();
    expect(store.getSnapshot()).toMatchObject({ loading: false, connection: "closed", error: { code: "forbidden" } });
    store.refresh();
    await pass();
    expect(store.getSnapshot()).toMatchObject({ connection: "open" });
    store.close();
  });

  test.each([
    ["does not exist", async () => {}],
    [
      "is deleted by somebody else",
      async (b: Awaited<ReturnType<typeof setup>>) => {
        b.thread.notice("THREAD_DELETED", { threadId: "t1" });
        await pass();
      },
    ],
  ])("forgets a thread that %s", async (how, work) => {
    const selected: (string | null)[] = [];
    const b = await setup({ onThread: (id) => selected.push(id) });
    b.thread.state("IDLE");
    await pass();
    if (how === "does not exist") {
      b.store.select("none");
      await pass();
    }
    await work(b);
    expect(b.state).toMatchObject({ threadId: null, loading: false, error: { code: "not_found" } });
    expect(selected.at(-1)).toBe(null);
  });

  test("shows another thread, and nothing of the one before", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start().text("One");
    await pass();
    const other = b.server.thread("t2");
    other.snapshot = snapshotOf("t2", { messages: [message("n1", "Other")] });
    b.store.select("t2");
    expect(b.state).toMatchObject({ threadId: "t2", loading: true, messages: [] });
    b.thread.text(" two");
    await pass();
    expect(shown(b.state)).toBe("Other");
    expect(b.thread.connections).toBe(0);
    b.store.newThread();
    await pass();
    expect(b.state).toMatchObject({ threadId: null, messages: [], connection: "closed" });
    expect(other.connections).toBe(0);
  });

  test("reads an event that stays unreadable around, with a snapshot", async () => {
    const b = await setup();
    b.thread.state("RUNNING").start().text("One");
    await pass();
    b.thread.snapshot = snapshotOf("t1", { state: "RUNNING", messages: [message("m1", "Saved")] });
    for (let i = 0; i < 2; i++) {
      b.thread.raw("data: {\n\n");
      await pass(2_000);
    }
    await pass(2_000);
    expect(b.state.messages[0]?.content).toBe("Saved");
    expect(b.state).toMatchObject({ connection: "open", error: null });
  });

  test("asks a host that does not say what the state is after a reconnect", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start();
    await pass();
    b.thread.greets = false;
    b.thread.cut();
    const done: Partial<Snapshot> = { messages: [message("m1", "Hello")], lastEventSeq: 1 };
    b.thread.snapshot = snapshotOf("t1", { ...done, state: "COMPLETED" });
    await pass(2_000);
    expect(b.state.view.thread.state).toBe("RUNNING");
    await pass(5_000);
    expect(b.state.view.thread.state).toBe("COMPLETED");
    expect(b.server.sent("GET /api/agent/history").length).toBe(2);
    await pass(30_000);
    expect(b.server.sent("GET /api/agent/history").length).toBe(2);
  });

  test("does not ask a server that says so", async () => {
    const b = await setup();
    b.thread.state("RUNNING");
    for (let i = 0; i < 3; i++) {
      b.thread.cut();
      await pass(10_000);
    }
    expect(b.server.sent("GET /api/agent/history").length).toBe(1);
  });

  test("does not ask a server that is slow to say so, because it has said so before", async () => {
    const b = await setup();
    b.thread.state("RUNNING");
    await pass();
    for (const greets of [true, false]) {
      b.thread.greets = greets;
      b.store.close();
      b.store.subscribe(() => {});
      await pass(20_000);
    }
    expect(b.server.sent("GET /api/agent/history").length).toBe(1);
  });

  test("gives the application its events", async () => {
    const got: unknown[] = [];
    const b = await setup({ onCustom: (name, value) => got.push([name, value]), onFrame: (f) => got.push(f.kind) });
    b.thread
      .published("receipt", { cents: 500 })
      .entry("PROVIDER_SWITCHED", { to: "b" })
      .notice("HOST_RESTARTS", {})
      .start();
    b.thread.item("CUSTOM", { name: "progress", value: { done: 0.5 } });
    await pass();
    expect(got.filter((g) => typeof g !== "string")).toEqual([
      ["receipt", { cents: 500 }],
      ["progress", { done: 0.5 }],
    ]);
    expect(got.filter((g) => typeof g === "string")).toContain("thread");
  });

  test("reads older messages in pages", async () => {
    const messages = Array.from({ length: 25 }, (_, i) => message(`m${i}`, String(i)));
    const server = scriptedServer();
    server.thread("t1").snapshot = snapshotOf("t1", { messages });
    const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
    const store = createThreadStore(client, { threadId: "t1", pageSize: 10 });
    store.subscribe(() => {});
    await pass();
    const ids = () => store.getSnapshot().messages.map((m) => m.id);
    expect(ids()).toEqual(messages.slice(15).map((m) => m.id));
    expect(store.getSnapshot().hasOlder).toBe(true);
    const loading = [store.loadOlder(), store.loadOlder()];
    expect(store.getSnapshot().loadingOlder).toBe(true);
    await Promise.all(loading);
    expect(ids().length).toBe(20);
    await store.loadOlder();
    expect(ids()).toEqual(messages.map((m) => m.id));
    expect(store.getSnapshot()).toMatchObject({ hasOlder: false, loadingOlder: false });
    await store.loadOlder();
    expect(server.sent("GET /api/agent/history").length).toBe(3);
    store.close();
  });
});

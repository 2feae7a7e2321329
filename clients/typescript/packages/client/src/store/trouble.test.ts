// What goes wrong outside of the store: callbacks that throw, hosts that send what they should not.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../client.js";
import { type ScriptedAnswer, scriptedServer, snapshotOf } from "../testing/index.js";
import { pass, setup, shown } from "./setup.test-util.js";
import { createThreadStore } from "./store.js";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:30:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const history = "GET /api/agent/history";

describe("a callback that throws", () => {
  const reported: unknown[] = [];
  const fail = () => {
    throw new Error("mine");
  };
  beforeEach(() => {
    reported.length = 0;
    vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
  });

  test.each(["onFrame", "onCustom"] as const)("is reported, and ends nothing: %s", async (name) => {
    const b = await setup({ [name]: fail });
    b.thread.published("receipt", { cents: 500 }).state("QUEUED").turn("m1", "Hello").start().text("One");
    await pass(5_000);
    expect(shown(b.state)).toBe("Hello | One");
    expect(reported.length).toBeGreaterThan(0);
    expect(b.server.sent("GET /api/agent/stream").length).toBe(1);
    b.store.close();
  });

  test("is reported, and the other listeners are told", async () => {
    const b = await setup({ onThread: fail });
    b.store.subscribe(fail);
    let told = 0;
    b.store.subscribe(() => told++);
    expect(await b.store.send("Hello")).toMatchObject({ ok: true });
    b.store.newThread();
    expect(await b.store.send("Hello")).toMatchObject({ ok: true });
    expect(told).toBeGreaterThan(3);
    expect(reported.length).toBeGreaterThan(3);
    b.store.close();
  });
});

describe("a host", () => {
  test.each([
    `{"kind":"thread","event":{"threadId":"t1","seq":1,"type":"RUN_STARTED","payload":null}}`,
    `{"kind":"thread","event":{"threadId":"t1","seq":1,"type":7}}`,
    `{"kind":"thread","event":[]}`,
    `{"kind":"thread","event":{"seq":1e400,"type":"x","threadId":"t1"}}`,
    `{"kind":"thread","event":{"seq":0,"type":"STATE_CHANGE","payload":{"usage":{"__proto__":{"polluted":1}},"queue":{}}}}`,
    `{"kind":"stream","streamId":"__proto__","item":{"type":"TEXT_MESSAGE_CONTENT","messageId":"__proto__","delta":{}}}`,
    `{"kind":"stream","streamId":"s","item":{"type":"SUBAGENT_EVENT","event":null,"offset":{}}}`,
    `{"kind":"snapshot","snapshot":{}}`,
    `{"kind":"snapshot","snapshot":{"thread":null,"messages":null,"stream":{}}}`,
    `{"kind":"snapshot","snapshot":{"thread":{"id":"t1","state":"IDLE"},"messages":[null],"runs":[null]}}`,
    `{"kind":"snapshot","snapshot":{"afterMessageId":"x"}}`,
  ])("sends something that cannot be read, and the rest is shown: %s", async (data) => {
    const b = await setup();
    const turn = { id: "m9", role: "user", content: "Hello" };
    const frame = { kind: "thread", event: { threadId: "t1", seq: 0, type: "MESSAGE_APPENDED", payload: turn } };
    b.thread.raw(`data: ${data}\n\ndata: ${JSON.stringify(frame)}\n\n`);
    await pass(100);
    expect(shown(b.state)).toBe("Hello");
    expect(b.state).toMatchObject({ connection: "open", error: null, threadId: "t1" });
    expect(({} as Record<string, unknown>).polluted).toBe(undefined);
    b.store.close();
  });

  test.each(["<!doctype html>", "{}", "[]", "null"])(
    "that is none is named while it is asked again: %s",
    async (body) => {
      let text = body;
      const fetch: typeof globalThis.fetch = async (input) =>
        String(input).includes("/history?") ? new Response(text) : Promise.reject(new TypeError("fetch failed"));
      const store = createThreadStore(createClient({ baseUrl: "http://spool.test", fetch }), { threadId: "t1" });
      store.subscribe(() => {});
      await pass();
      expect(store.getSnapshot()).toMatchObject({
        loading: true,
        connection: "reconnecting",
        error: { code: "internal", message: "the answer is not that of an agent server" },
      });
      text = JSON.stringify(snapshotOf("t1"));
      await pass(2_000);
      expect(store.getSnapshot()).toMatchObject({ loading: false, error: null });
      store.close();
    },
  );
});

describe("a server that cannot be reached", () => {
  async function away(answer: "network" | ScriptedAnswer = "network") {
    const server = scriptedServer();
    const thread = server.thread("t1");
    thread.snapshot = snapshotOf("t1");
    let up = false;
    server.answer(history, () => (up ? undefined : answer));
    const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
    const store = createThreadStore(client, { threadId: "t1" });
    store.subscribe(() => {});
    await pass(60_000); // the waits are long by now
    return {
      server,
      thread,
      store,
      asked: () => server.sent(history).length,
      rise: () => {
        up = true;
      },
    };
  }

  test("is named until it can", async () => {
    const b = await away();
    const unreachable = { code: "unavailable", message: "the server cannot be reached" };
    expect(b.store.getSnapshot()).toMatchObject({
      loading: true,
      connection: "reconnecting",
      connectionError: unreachable,
      error: null,
    });
    b.rise();
    await pass(44_000);
    expect(b.store.getSnapshot()).toMatchObject({ loading: false, connection: "open", connectionError: null });
    b.thread.cut();
    await pass();
    expect(b.store.getSnapshot()).toMatchObject({ connection: "reconnecting", connectionError: unreachable });
    await pass(5_000);
    expect(b.store.getSnapshot()).toMatchObject({ connection: "open", connectionError: null });
    b.store.close();
  });

  test.each(["online", "pageshow"])("is asked at once at the event %s, whatever the wait", async (name) => {
    const events = new EventTarget();
    vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
    vi.stubGlobal("removeEventListener", events.removeEventListener.bind(events));
    const b = await away();
    await vi.advanceTimersByTimeAsync(0);
    while (b.store.getSnapshot().connection !== "reconnecting") await pass(100);
    const asked = b.asked();
    b.rise();
    events.dispatchEvent(new Event(name));
    await pass(0);
    expect(b.asked()).toBe(asked + 1);
    await pass();
    expect(b.store.getSnapshot()).toMatchObject({ loading: false, connection: "open", connectionError: null });
    b.store.close();
    events.dispatchEvent(new Event(name));
    await pass();
    expect(b.asked()).toBe(asked + 1);
  });

  test("is asked at once when the network is back while a request is repeated", async () => {
    const events = new EventTarget();
    vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
    vi.stubGlobal("removeEventListener", events.removeEventListener.bind(events));
    const server = scriptedServer();
    server.thread("t1").snapshot = snapshotOf("t1");
    server.answer(history, "network", 2);
    const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch, backoff: { minMs: 10_000 } });
    const store = createThreadStore(client, { threadId: "t1" });
    store.subscribe(() => {});
    await pass(100);
    expect(server.sent(history).length).toBe(1);
    for (const n of [2, 3]) {
      events.dispatchEvent(new Event("online"));
      await pass(0);
      expect(server.sent(history).length).toBe(n);
    }
    await pass();
    expect(store.getSnapshot()).toMatchObject({ loading: false, connection: "open", error: null });
    store.close();
  });

  // A proxy in front of it, before it has begun, or with another route.
  test.each([
    { status: 404, headers: { "Content-Type": "text/html" }, body: "<h1>Not Found</h1>" },
    { status: 404, body: { message: "no Route matched" } },
    { status: 404, body: { status: 404, error: "Not Found", path: "/api/agent/history" } },
  ])("and whose place answers 404 keeps its thread: %j", async (answer) => {
    const b = await away(answer);
    expect(b.store.getSnapshot()).toMatchObject({
      threadId: "t1",
      connection: "reconnecting",
      connectionError: { status: 404 },
      error: { status: 404 },
    });
    b.rise();
    await pass(44_000);
    expect(b.store.getSnapshot()).toMatchObject({
      loading: false,
      connection: "open",
      connectionError: null,
      error: null,
    });
    b.store.close();
  });

  test.each([{ error: "Thread not found" }, { error: "the thread t1 does not exist", code: "not_found" }])(
    "is not one that says that the thread does not exist: %j",
    async (body) => {
      const b = await away({ status: 404, body });
      expect(b.store.getSnapshot()).toMatchObject({ threadId: null, error: { code: "not_found" } });
      expect(b.asked()).toBe(1);
    },
  );
});

describe("a refresh", () => {
  test("while a snapshot is being read reads another one", async () => {
    const b = await setup();
    let answer = () => {};
    const old = { body: snapshotOf("t1") };
    b.server.answer(
      history,
      () =>
        new Promise((resolve) => {
          answer = () => resolve(old);
        }),
      1,
    );
    b.store.refresh();
    await pass();
    b.thread.snapshot = snapshotOf("t1", { state: "COMPLETED" });
    b.store.refresh();
    answer();
    await pass();
    expect(b.state.view.thread.state).toBe("COMPLETED");
    expect(b.server.sent(history).length).toBe(3);
    await pass(10_000);
    expect(b.server.sent(history).length).toBe(3);
  });

  test("while the store waits for its next attempt does not wait", async () => {
    const server = scriptedServer();
    server.thread("t1").snapshot = snapshotOf("t1");
    server.answer(history, "network");
    const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch, retries: 0 });
    const store = createThreadStore(client, { threadId: "t1" });
    store.subscribe(() => {});
    await pass(60_000); // the waits are long by now
    server.answer(history, () => undefined);
    server.answer(history, { body: snapshotOf("t1") });
    store.refresh();
    await pass();
    expect(store.getSnapshot()).toMatchObject({ loading: false, connection: "open" });
    store.close();
  });
});

test("a thread that the user deletes is no error, whichever word of it comes first", async () => {
  const b = await setup();
  let answer = () => {};
  b.server.answer(
    "DELETE /api/threads",
    () =>
      new Promise((resolve) => {
        answer = () => resolve({ body: { accepted: true } });
      }),
  );
  const deleted = b.store.delete();
  await pass();
  b.thread.notice("THREAD_DELETED", { threadId: "t1" });
  await pass();
  answer();
  expect(await deleted).toEqual({ ok: true });
  expect(b.state).toMatchObject({ threadId: null, error: null });
});

test("nothing is left to be done after a close", async () => {
  const b = await setup();
  b.thread.state("QUEUED").turn("m1", "Hello").start().text("One");
  await b.store.send("More", { whenBusy: "steer" });
  b.thread.park("call_1");
  await pass();
  await b.store.respond("call_1", { approved: true });
  await pass(200); // the frames of the page
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  b.store.close();
  await pass(0);
  expect(vi.getTimerCount()).toBe(0);
});

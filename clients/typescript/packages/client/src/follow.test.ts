import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "./client.js";
import type { SpoolError } from "./error.js";
import type { ClientOptions, FollowOptions } from "./options.js";
import { emptyView, reduce } from "./reduce/reduce.js";
import { type ScriptedServer, scriptedServer, snapshotOf } from "./testing/index.js";
import type { Frame } from "./wire.js";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:30:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets everything happen that does not wait for a timer. */
const settle = () => vi.advanceTimersByTimeAsync(0);

interface Watched {
  readonly frames: Frame[];
  readonly statuses: string[];
  readonly waits: number[];
  readonly stop: AbortController;
  error?: SpoolError;
  over: boolean;
}

function watch(server: ScriptedServer, options: FollowOptions = {}, client: ClientOptions = {}): Watched {
  const stop = new AbortController();
  const w: Watched = { frames: [], statuses: [], waits: [], stop, over: false };
  const follow = createClient({ baseUrl: "http://spool.test", fetch: server.fetch, ...client }).follow("t1", {
    signal: stop.signal,
    onStatus: (status, why) => {
      w.statuses.push(status);
      if (why) w.waits.push(why.waitMs);
    },
    ...options,
  });
  (async () => {
    for await (const frame of follow) w.frames.push(frame);
  })().then(
    () => {
      w.over = true;
    },
    (error) => {
      w.error = error;
    },
  );
  return w;
}

/** The text and state that the frames show. */
function shown(w: Watched): string {
  const view = w.frames.reduce(reduce, emptyView);
  const said = [...view.messages, ...view.drafts].map((m) => m.content).join(" | ");
  return `${view.thread.state}: ${said}`;
}

const streams = (server: ScriptedServer) => server.sent("GET /api/agent/stream");
const cursors = (server: ScriptedServer) => streams(server).map((r) => r.query.get("cursor"));

describe("follow", () => {
  test("yields the frames of a thread, with their positions", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("QUEUED").turn("m1", "Hello").start();
    const w = watch(server);
    await settle();
    thread.text("Hi").text(" there").step().finish();
    await settle();
    expect(shown(w)).toBe("COMPLETED: Hello | Hi there");
    expect(w.frames.find((f) => f.kind === "stream")?.cursor).toBe("1 r1:1 1-1");
    expect(w.statuses).toEqual(["connecting", "open"]);
    w.stop.abort();
    await settle();
    expect(w.over).toBe(true);
    expect(w.statuses.at(-1)).toBe("closed");
    expect(thread.connections).toBe(0);
  });

  test("ends with an event that is too large", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("RUNNING");
    const w = watch(server, {}, { maxEventSize: 1_000 });
    await settle();
    thread.raw(`data: ${"x".repeat(500)}`).raw("x".repeat(500));
    await settle();
    expect(w.error).toMatchObject({
      code: "invalid",
      reason: "event_too_large",
      message: "an event has more than 1000 characters",
    });
    expect(thread.connections).toBe(0);
    expect(streams(server).length).toBe(1);
  });

  test("takes offsets that are numbers, each once", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("RUNNING").start();
    const w = watch(server);
    await settle();
    const text = (n: number) => {
      const item = { type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: `${n} `, offset: n };
      thread.raw(`id: 1 r1:1 ${n}\ndata: ${JSON.stringify({ kind: "stream", streamId: "r1:1", item })}\n\n`);
    };
    for (const n of [9, 10, 10, 9, 11]) text(n);
    await settle();
    expect(shown(w)).toBe("RUNNING: 9 10 11 ");
    expect(w.frames.at(-1)).toMatchObject({ cursor: "1 r1:1 11", item: { offset: "11" } });
    expect(w.error).toBe(undefined);
    w.stop.abort();
    await settle();
  });

  test.each(["cut", "end"] as const)("goes on behind the last frame after a %s", async (how) => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("QUEUED").turn("m1", "Hello").start();
    const w = watch(server);
    for (const piece of ["One", " two", " three", " four"]) {
      thread.text(piece);
      await settle();
      thread[how]();
      await vi.advanceTimersByTimeAsync(2_000);
    }
    thread.step().finish();
    await settle();
    expect(shown(w)).toBe("COMPLETED: Hello | One two three four");
    expect(cursors(server)).toEqual([null, "1 r1:1 1-3", "1 r1:1 1-4", "1 r1:1 1-5", "1 r1:1 1-6"]);
    const ids = w.frames.flatMap((f) => f.cursor ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(w.frames.filter((f) => f.kind === "thread" && f.event.type === "MESSAGE_APPENDED").length).toBe(1);
  });

  test("is cut anywhere in a stream", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("QUEUED").turn("m1", "Hello").start().text("Grüße 👋").step().finish();
    let whole = "";
    thread.open("", { write: (text) => (whole += text), end: () => {}, cut: () => {} });
    const bytes = new TextEncoder().encode(whole);
    for (let at = 0; at < bytes.length; at += 7) {
      let cut = false;
      const fetch: typeof globalThis.fetch = async (input, init) => {
        if (cut) return server.fetch(input, init);
        cut = true;
        const body = new ReadableStream({
          start(c) {
            c.enqueue(bytes.slice(0, at));
            c.close();
          },
        });
        return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
      };
      const w = watch(server, {}, { fetch });
      await vi.advanceTimersByTimeAsync(2_000);
      expect(shown(w)).toBe("COMPLETED: Hello | Grüße 👋");
      const ids = w.frames.flatMap((f) => f.cursor ?? []);
      expect(new Set(ids).size, `cut at ${at}`).toBe(ids.length);
      w.stop.abort();
    }
  });

  test("waits longer after each failure, and as long as the server asks", async () => {
    const server = scriptedServer();
    server.thread("t1").state("RUNNING");
    server.answer("GET /api/agent/stream", "network", 4);
    const w = watch(server);
    await vi.advanceTimersByTimeAsync(12_000);
    expect(w.waits.length).toBe(4);
    w.waits.forEach((ms, i) => {
      expect(ms).toBeGreaterThanOrEqual(500 * 2 ** i);
      expect(ms).toBeLessThanOrEqual(750 * 2 ** i);
    });
    expect(w.frames.length).toBe(1);

    server.answer(
      "GET /api/agent/stream",
      { status: 429, body: { error: "too many open streams", code: "limit" }, headers: { "Retry-After": "60" } },
      1,
    );
    server.thread("t1").raw("retry: 5000\n\n").end();
    await settle();
    expect(w.waits.at(-1)).toBeGreaterThanOrEqual(5_000); // a server that shuts down
    await vi.advanceTimersByTimeAsync(7_500);
    expect(w.waits.at(-1)).toBeGreaterThanOrEqual(60_000);
    await vi.advanceTimersByTimeAsync(90_000);
    expect(w.statuses.at(-1)).toBe("open");
    w.stop.abort();
  });

  test("gives up a connection that has stalled", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("RUNNING");
    const w = watch(server);
    await settle();
    for (let i = 0; i < 10; i++) {
      await vi.advanceTimersByTimeAsync(15_000);
      thread.raw(": keepalive\n\n");
    }
    expect(streams(server).length).toBe(1);
    await vi.advanceTimersByTimeAsync(47_000);
    expect(streams(server).length).toBe(2);
    expect(w.statuses.at(-1)).toBe("open");
    w.stop.abort();
  });

  test("does not blame a slow reader on the connection", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("RUNNING").start();
    const iterator = createClient({ baseUrl: "http://spool.test", fetch: server.fetch })
      .follow("t1")
      [Symbol.asyncIterator]();
    await iterator.next();
    for (let i = 0; i < 600; i++) thread.text("x");
    await vi.advanceTimersByTimeAsync(120_000);
    expect(streams(server).length).toBe(1);
    let text = "";
    while (text.length < 600) {
      const { value } = await iterator.next();
      if (value.kind === "stream" && value.item.type === "TEXT_MESSAGE_CONTENT") text += value.item.delta;
    }
    expect(streams(server).length).toBe(1);
    await iterator.return?.();
    expect(thread.connections).toBe(0);
  });

  test("connects at once when the device wakes up", async () => {
    const server = scriptedServer();
    server.thread("t1").state("RUNNING");
    const page = Object.assign(new EventTarget(), { visibilityState: "visible" });
    vi.stubGlobal("document", page);
    const w = watch(server);
    await settle();
    vi.setSystemTime(Date.now() + 10_000);
    page.dispatchEvent(new Event("visibilitychange"));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(streams(server).length).toBe(1); // there was a sign of life not long ago
    vi.setSystemTime(Date.now() + 3_600_000);
    page.dispatchEvent(new Event("visibilitychange"));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(streams(server).length).toBe(2);

    server.answer("GET /api/agent/stream", "network");
    server.thread("t1").cut();
    await vi.advanceTimersByTimeAsync(60_000);
    server.answer("GET /api/agent/stream", () => undefined);
    const tried = streams(server).length;
    page.dispatchEvent(new Event("visibilitychange")); // a wait is over, however long it would have been
    await settle();
    expect(streams(server).length).toBe(tried + 1);
    w.stop.abort();
    await settle();
    vi.unstubAllGlobals();
  });

  test("notices a frozen process by its own timers", async () => {
    const server = scriptedServer();
    server.thread("t1").state("RUNNING");
    const w = watch(server);
    await settle();
    vi.setSystemTime(Date.now() + 600_000);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(streams(server).length).toBe(2);
    w.stop.abort();
  });

  test("ends for a thread that does not exist, and for one that is deleted", async () => {
    const server = scriptedServer();
    const none = watch(server);
    await settle();
    expect(none.error).toMatchObject({ code: "not_found", status: 404, message: "Thread not found" });
    const thread = server.thread("t1").state("IDLE");
    const w = watch(server);
    await settle();
    thread.notice("THREAD_DELETED", { threadId: "t1" });
    await settle();
    expect(w.error).toMatchObject({ code: "not_found" });
    expect(w.frames.at(-1)).toMatchObject({ event: { type: "THREAD_DELETED" } });
    expect(w.statuses.at(-1)).toBe("closed");
  });

  test("ends for a refusal of the server, and not for one of a proxy in between", async () => {
    const server = scriptedServer();
    server.thread("t1").state("RUNNING");
    const w = watch(server);
    await settle();
    server.answer("GET /api/agent/stream", { status: 403, body: "Blocked" }, 1);
    server.thread("t1").cut();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(w.statuses.at(-1)).toBe("open");
    server.answer(
      "GET /api/agent/stream",
      { status: 403, body: { error: "scope read is missing", code: "forbidden" } },
      1,
    );
    server.thread("t1").cut();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(w.error).toMatchObject({ code: "forbidden" });
  });

  test("asks for a new token after a 401", async () => {
    const server = scriptedServer();
    server.thread("t1").state("RUNNING");
    let token = 0;
    const valid = new Set(["Bearer k1"]);
    server.answer("GET /api/agent/stream", (r) =>
      valid.has(r.headers.get("Authorization") ?? "")
        ? undefined
        : { status: 401, body: { error: "no", code: "unauthorized" } },
    );
    const w = watch(server, {}, { token: async () => `k${++token}` });
    await settle();
    expect(w.statuses.at(-1)).toBe("open");
    valid.clear();
    valid.add("Bearer k3");
    server.thread("t1").cut();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(w.statuses.at(-1)).toBe("open");
    valid.clear();
    server.thread("t1").cut();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(w.error).toMatchObject({ code: "unauthorized", status: 401 });
  });

  test("reads an event again that was damaged on the way, and ends if it stays so", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("RUNNING").start();
    const w = watch(server);
    await settle();
    thread.raw('data: {"kind":"thr\n\n');
    await settle();
    thread.text("Hi");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(shown(w)).toBe("RUNNING: Hi");
    thread.raw("data: {\n\n");
    await vi.advanceTimersByTimeAsync(2_000);
    thread.raw("data: {\n\n");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(w.error).toMatchObject({ code: "internal" });
  });

  test("ignores what it does not know, and goes on behind it", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("RUNNING").start();
    const w = watch(server);
    await settle();
    thread.raw('event: news\ndata: {}\n\nid: 9 r1:1 1-9\ndata: {"kind":"news"}\n\ndata: 3\n\n').cut();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(cursors(server).at(-1)).toBe("9 r1:1 1-9");
    w.stop.abort();
  });

  test("takes bare events, and positions from the frames themselves", async () => {
    const server = scriptedServer();
    const thread = server.thread("t1").state("RUNNING");
    const w = watch(server);
    await settle();
    thread.raw('data: {"threadId":"t1","seq":7,"type":"RUN_STARTED","payload":{"runId":"r1","streamId":"r1:1"}}\n\n');
    thread.raw(
      'data: {"kind":"stream","streamId":"r1:1","item":{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi","offset":"3"}}\n\n',
    );
    thread.raw(
      'data: {"kind":"stream","streamId":"r1:1","item":{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi","offset":"3"}}\n\n',
    );
    await settle();
    thread.cut();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(shown(w)).toBe("RUNNING: Hi");
    expect(cursors(server)).toEqual([null, "7 r1:1 3"]);
    w.stop.abort();
  });

  test("asks an opener that does not say why it failed what the history says", async () => {
    const server = scriptedServer();
    const w = watch(
      server,
      {},
      {
        openStream: (_, handlers) => {
          const timer = setTimeout(() => handlers.onError(new Error("failed")), 1);
          return { close: () => clearTimeout(timer) };
        },
      },
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect(w.error).toMatchObject({ code: "not_found" });
    expect(server.sent("GET /api/agent/history").length).toBe(1);
  });
});

test("a connection may be silent for as long as the caller says", async () => {
  const server = scriptedServer();
  server.thread("t1").snapshot = snapshotOf("t1");
  const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
  const frames = client.follow("t1", { idleMs: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  void frames.next();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(server.requests.length).toBe(1);
  await frames.return?.();
});

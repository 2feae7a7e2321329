import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../client.js";
import { pass, shown } from "../store/setup.test-util.js";
import { createThreadStore } from "../store/store.js";
import { type ScriptedServer, scriptedServer, snapshotOf } from "../testing/index.js";
import type { ThreadStore } from "../types.js";
import type { Frame } from "../wire.js";
import { sharedFollow } from "./follow.js";

/** Channels between the tabs of a test. A tab that sleeps hears and says nothing, and its timers do not run. */
class Channel {
  static all = new Set<Channel>();
  static asleep = new Set<Channel>();
  onmessage: ((event: { data: unknown }) => void) | null = null;

  constructor(readonly name: string) {
    Channel.all.add(this);
  }

  postMessage(data: unknown): void {
    if (Channel.asleep.has(this)) return;
    for (const other of Channel.all) {
      if (other === this || other.name !== this.name) continue;
      const copy = structuredClone(data);
      setTimeout(() => Channel.all.has(other) && !Channel.asleep.has(other) && other.onmessage?.({ data: copy }), 0);
    }
  }

  close(): void {
    Channel.all.delete(this);
  }
}

/** One lock, with those that wait for it. */
class Locks {
  #holder: { reject: (error: Error) => void } | null = null;
  readonly #waiting: (() => void)[] = [];

  request(_: string, options: { signal?: AbortSignal; steal?: boolean }, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        const own = { reject };
        this.#holder = own;
        const free = () => {
          if (this.#holder !== own) return;
          this.#holder = null;
          this.#waiting.shift()?.();
        };
        work().then(
          () => {
            free();
            resolve();
          },
          (error) => {
            free();
            reject(error);
          },
        );
      };
      options.signal?.addEventListener("abort", () => {
        const at = this.#waiting.indexOf(take);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(new Error("aborted"));
      });
      if (options.steal) {
        this.#holder?.reject(new Error("stolen"));
        take();
      } else if (this.#holder) this.#waiting.push(take);
      else take();
    });
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:30:00Z") });
  Channel.all.clear();
  Channel.asleep.clear();
  vi.stubGlobal("BroadcastChannel", Channel);
  vi.stubGlobal("navigator", { locks: new Locks() });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface OpenTab {
  readonly store: ThreadStore;
  readonly frames: Frame[];
  readonly channel: Channel | undefined;
}

async function open(server: ScriptedServer, shareTabs: boolean | string = true): Promise<OpenTab> {
  const frames: Frame[] = [];
  const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
  const store = createThreadStore(client, { threadId: "t1", shareTabs, onFrame: (f) => frames.push(f) });
  store.subscribe(() => {});
  await pass();
  return { store, frames, channel: [...Channel.all].at(-1) };
}

function setup() {
  const server = scriptedServer();
  const thread = server.thread("t1");
  thread.snapshot = snapshotOf("t1");
  return { server, thread };
}

const streams = (server: ScriptedServer) => server.sent("GET /api/agent/stream").length;
const texts = (tabs: OpenTab[]) => tabs.map((t) => shown(t.store.getSnapshot()));
/** The positions of the frames, which each tab has once. */
function positions(tab: OpenTab): string[] {
  const at = tab.frames.flatMap((f) => (f.kind === "snapshot" ? [] : (f.cursor ?? [])));
  expect(new Set(at).size).toBe(at.length);
  return at;
}

describe("tabs", () => {
  test("share one connection, and see the same", async () => {
    const { server, thread } = setup();
    const tabs = [await open(server), await open(server), await open(server)];
    thread.state("QUEUED").turn("m1", "Hello").start().text("One").text(" two");
    await pass();
    expect(texts(tabs)).toEqual(Array(3).fill("Hello | One two"));
    expect(thread.connections).toBe(1);
    expect(streams(server)).toBe(1);
    for (const tab of tabs) expect(tab.store.getSnapshot().connection).toBe("open");
    expect(positions(tabs[2] as OpenTab)).toEqual(positions(tabs[0] as OpenTab));
    for (const tab of tabs) tab.store.close();
    await pass();
    expect(thread.connections).toBe(0);
    expect(Channel.all.size).toBe(0);
  });

  test("that come later catch up", async () => {
    const { server, thread } = setup();
    const first = await open(server);
    thread.state("QUEUED").turn("m1", "Hello").start().text("One");
    await pass();
    const second = await open(server); // its snapshot is older than what the first one has
    thread.text(" two");
    await pass();
    expect(texts([first, second])).toEqual(Array(2).fill("Hello | One two"));
    expect(second.store.getSnapshot().view).toEqual(first.store.getSnapshot().view);
    expect(thread.connections).toBe(1);
  });

  test("go on when the one that leads is closed, without a lost or repeated frame", async () => {
    const { server, thread } = setup();
    const tabs = [await open(server), await open(server), await open(server)];
    thread.state("QUEUED").turn("m1", "Hello").start();
    for (const gone of [0, 1]) {
      thread.text(`${gone} `);
      await pass();
      tabs[gone]?.store.close();
      thread.text("in between ");
      await pass();
      expect(thread.connections).toBe(1);
    }
    thread.text("end").step().finish();
    await pass();
    const last = tabs[2] as OpenTab;
    expect(texts([last])).toEqual(["Hello | 0 in between 1 in between end"]);
    positions(last);
    expect(streams(server)).toBe(3);
    expect(last.store.getSnapshot().view.thread.state).toBe("COMPLETED");
  });

  test("take the lead from one that sleeps, which follows when it wakes up", async () => {
    const { server, thread } = setup();
    const { setInterval } = globalThis;
    let channel: Channel | undefined;
    const timers = (run: () => void, ms: number) =>
      setInterval(() => (channel && Channel.asleep.has(channel)) || run(), ms);
    vi.stubGlobal("setInterval", timers);
    const first = await open(server);
    vi.stubGlobal("setInterval", setInterval);
    channel = first.channel as Channel;
    const second = await open(server);
    thread.state("QUEUED").turn("m1", "Hello").start().text("One");
    await pass();
    Channel.asleep.add(channel);
    await pass(30_000);
    thread.text(" two");
    await pass();
    expect(texts([second])).toEqual(["Hello | One two"]);
    Channel.asleep.delete(channel);
    await pass(30_000);
    thread.text(" three");
    await pass();
    expect(texts([first, second])).toEqual(Array(2).fill("Hello | One two three"));
    expect(thread.connections).toBe(1);
    positions(first);
    positions(second);
  });

  test("read a snapshot if the one that leads does not have what they missed", async () => {
    const { server, thread } = setup();
    const first = await open(server);
    thread.state("QUEUED").turn("m1", "Hello").start();
    for (let i = 0; i < 2_100; i++) thread.text(".");
    await pass();
    const messages = [...first.store.getSnapshot().messages] as never;
    const stream = { streamId: "r1:1", runId: "r1", items: [], end: null, offset: "1-2102" };
    const old = snapshotOf("t1");
    let asked = 0;
    server.answer("GET /api/agent/history", () => ({
      body: asked++ === 0 ? old : snapshotOf("t1", { state: "RUNNING", messages, lastEventSeq: 1, stream }),
    }));
    const second = await open(server);
    thread.text("!");
    await pass();
    expect(shown(second.store.getSnapshot())).toBe("Hello | !");
    expect(asked).toBe(2);
    expect(thread.connections).toBe(1);
  });

  test("end together when the thread is deleted", async () => {
    const { server, thread } = setup();
    const tabs = [await open(server), await open(server)];
    thread.state("IDLE").notice("THREAD_DELETED", { threadId: "t1" });
    await pass();
    for (const tab of tabs)
      expect(tab.store.getSnapshot()).toMatchObject({ threadId: null, error: { code: "not_found" } });
  });

  test("that follow say why the connection is lost, and that it is over", async () => {
    const { server, thread } = setup();
    const tabs = [await open(server), await open(server)];
    thread.state("RUNNING").start();
    await pass();
    server.answer("GET /api/agent/stream", "network", 1);
    thread.cut();
    await pass();
    for (const tab of tabs)
      expect(tab.store.getSnapshot()).toMatchObject({
        connection: "reconnecting",
        connectionError: { code: "unavailable", message: "the server cannot be reached" },
      });
    await pass(5_000);
    for (const tab of tabs)
      expect(tab.store.getSnapshot()).toMatchObject({ connection: "open", connectionError: null });
    server.answer("GET /api/agent/stream", { status: 403, body: { error: "no", code: "forbidden" } });
    thread.cut();
    await pass(5_000);
    for (const tab of tabs)
      expect(tab.store.getSnapshot()).toMatchObject({ connection: "closed", error: { code: "forbidden" } });
  });

  test("ends its follow with the status closed, whichever tab has seen the end", async () => {
    const { server, thread } = setup();
    const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
    const statuses: string[][] = [[], []];
    const errors: unknown[] = [];
    for (const said of statuses) {
      const frames = sharedFollow(client, "k", "t1", { cursor: "-1 - -", onStatus: (status) => said.push(status) });
      (async () => {
        for await (const _ of frames);
      })().catch((error) => errors.push(error.code));
    }
    await pass();
    thread.state("IDLE").notice("THREAD_DELETED", { threadId: "t1" });
    await pass();
    expect(errors).toEqual(["not_found", "not_found"]);
    expect(statuses.map((said) => said.filter((status) => status === "closed"))).toEqual([["closed"], ["closed"]]);
    expect(statuses.map((said) => said.at(-1))).toEqual(["closed", "closed"]);
  });

  test("ignore messages that they do not know, or that cannot be read", async () => {
    const { server, thread } = setup();
    const thrown = vi.fn();
    process.on("uncaughtException", thrown);
    const tabs = [await open(server), await open(server)];
    thread.state("QUEUED").turn("m1", "Hello").start().text("One");
    await pass();
    const stranger = new Channel(tabs[0]?.channel?.name ?? "");
    const text = {
      kind: "stream",
      streamId: "r1:1",
      item: { type: "TEXT_MESSAGE_CONTENT", messageId: "r1:1:m1", delta: "!", offset: "9-9" },
    };
    const failed = { say: "failed", code: "internal", message: "no" };
    for (const said of [
      null,
      3,
      "x",
      {},
      [],
      failed,
      { say: "frame", frame: text },
      { v: 1, ...failed },
      { v: "2", ...failed },
    ]) {
      stranger.postMessage(said); // of no version, or of another one
    }
    for (const said of [
      {},
      { say: 3 },
      { say: "news" },
      { say: "frame" },
      { say: "frame", frame: 3 },
      { say: "frame", frame: { kind: "thread" } },
      { say: "frame", frame: { kind: "stream", streamId: "r1:1", item: null } },
      { say: "joined", frames: 3 },
      { say: "join" },
      { say: "join", cursor: {} },
      { say: "status", why: 3 },
    ]) {
      stranger.postMessage({ v: 2, ...said });
    }
    await pass();
    thread.text(" two");
    await pass();
    expect(texts(tabs)).toEqual(Array(2).fill("Hello | One two"));
    expect(tabs.map((tab) => tab.store.getSnapshot().connection)).toEqual(["open", "open"]);
    expect(thrown).not.toHaveBeenCalled();
    process.off("uncaughtException", thrown);
    expect(thread.connections).toBe(1);
  });

  test("of different users are apart", async () => {
    const { server, thread } = setup();
    await open(server, "ann");
    vi.stubGlobal("navigator", { locks: new Locks() });
    await open(server, "bob");
    expect(thread.connections).toBe(2);
  });

  test("have connections of their own where they may not have locks", async () => {
    const request = () => Promise.reject(new DOMException("not here", "SecurityError"));
    vi.stubGlobal("navigator", { locks: { request } });
    const { server, thread } = setup();
    const tabs = [await open(server), await open(server)];
    thread.state("QUEUED").turn("m1", "Hello");
    await pass();
    expect(texts(tabs)).toEqual(["Hello", "Hello"]);
    expect(thread.connections).toBe(2);
    for (const tab of tabs) tab.store.close();
    await pass();
    expect(thread.connections).toBe(0);
  });

  test("have connections of their own where there are no locks", async () => {
    vi.stubGlobal("navigator", {});
    const { server, thread } = setup();
    const tabs = [await open(server), await open(server)];
    thread.state("QUEUED").turn("m1", "Hello");
    await pass();
    expect(texts(tabs)).toEqual(["Hello", "Hello"]);
    expect(thread.connections).toBe(2);
  });
});

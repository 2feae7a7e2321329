// No state that a store has shown ever changes: a component compares it with a later one.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../client.js";
import { type Framed, fixture } from "../fixtures.test-util.js";
import { scriptedServer, snapshotOf } from "../testing/index.js";
import type { ThreadState, ThreadStore, ThreadStoreOptions } from "../types.js";
import type { Frame, Snapshot } from "../wire.js";
import { pass, setup, shown } from "./setup.test-util.js";
import { createThreadStore } from "./store.js";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:30:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Keeps the states of a store, frozen or with what they were. */
class Kept {
  readonly #were: { state: ThreadState; text: string }[] = [];

  constructor(store: ThreadStore, freezes: boolean) {
    const keep = () => {
      const state = store.getSnapshot();
      if (freezes) freeze(state);
      this.#were.push({ state, text: JSON.stringify(state) });
    };
    keep();
    store.subscribe(keep);
  }

  /** The states are what they were. Returns how many there are. */
  unchanged(): number {
    for (const { state, text } of this.#were) expect(JSON.stringify(state)).toBe(text);
    return this.#were.length;
  }
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

const { views } = fixture<{ views: { name: string; snapshot: Snapshot | null; frames: Framed[] }[] }>("views");

describe("the states of a store stay", () => {
  test.each(views.map((c) => [c.name, c] as const))("%s", async (_, c) => {
    const ends: ThreadState[] = [];
    for (const freezes of [false, true]) {
      const server = scriptedServer();
      const thread = server.thread("t1");
      thread.snapshot = c.snapshot ?? snapshotOf("t1");
      const options: ThreadStoreOptions = { threadId: "t1", schedule: (run) => run() };
      const store = createThreadStore(createClient({ baseUrl: "http://spool.test", fetch: server.fetch }), options);
      const kept = new Kept(store, freezes);
      await pass();
      for (const f of c.frames) {
        thread.frame(structuredClone(f.frame) as Frame, f.id);
        await pass(1);
      }
      ends.push(store.getSnapshot());
      store.close();
      expect(kept.unchanged()).toBeGreaterThan(1);
    }
    expect(ends[1]).toEqual(ends[0]); // what a change of a frozen state has thrown would be missing
  });

  test("whatever the user does", async () => {
    const b = await setup({ pageSize: 3 });
    const kept = new Kept(b.store, true);
    await b.store.send("Hello", { clientMessageId: "c-1" });
    b.thread.state("QUEUED").turn("m1", "Hello", { clientMessageId: "c-1" }).start().text("One");
    await pass();
    await b.store.steer("Left");
    b.server.answer(
      "POST /api/agent/run",
      { status: 202, body: { accepted: true, threadId: "t1", runId: "r9", position: 1 } },
      1,
    );
    await b.store.send("Later", { whenBusy: "enqueue" });
    b.thread.step().park("call_1");
    await pass();
    await b.store.respond("call_1", { approved: true });
    b.thread.entry("HITL_RESPONSE", { toolCallId: "call_1", approved: true }).start().text("Two").step().finish();
    await pass();
    const old = (id: string) => ({
      id,
      threadId: "t1",
      role: "user" as const,
      content: id,
      createdAt: "",
      agentId: null,
    });
    b.thread.snapshot = snapshotOf("t1", { messages: ["a", "b", "c", "d", "e"].map(old) });
    b.store.refresh();
    await pass();
    await b.store.loadOlder();
    await b.store.edit("e", "f");
    await b.store.loadBranches();
    await b.store.restoreBranch(1);
    await b.store.stop();
    b.thread.cut();
    await pass(5_000);
    b.store.newThread();
    expect(kept.unchanged()).toBeGreaterThan(25);
    expect(shown(b.state)).toBe("");
    b.store.close();
  });
});

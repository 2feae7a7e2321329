// Against a real server, whose program is SPOOL_BIN: see test/tsclient. Without it, nothing runs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "./client.js";
import { baseUrl, idle, kill, program, remove, same, serve, until } from "./live.test-util.js";
import { createThreadStore } from "./store/store.js";
import type { ThreadState, ThreadStore } from "./types.js";

describe.skipIf(!program)("a real server", { timeout: 180_000 }, () => {
  beforeAll(serve);
  afterAll(remove);

  function open(): ThreadStore {
    const store = createThreadStore(createClient({ baseUrl, backoff: { minMs: 50, maxMs: 200 } }));
    store.subscribe(() => {});
    return store;
  }

  test("answers, asks, is edited and goes back", async () => {
    const store = open();
    expect(await store.send("Hello")).toMatchObject({ ok: true });
    await until(store, idle);
    await same(store);
    await store.send('use send_email with {"to":"ann@example.com"}');
    const { view } = await until(
      store,
      (s) => s.view.parks.length === 1 && s.view.thread.state === "WAITING_FOR_INPUT",
    );
    await same(store);
    const park = view.parks[0];
    expect(await store.respond(park?.toolCallId ?? "", { approved: true, arguments: { too: 1 } })).toMatchObject({
      ok: false,
      error: { code: "invalid", field: "arguments" },
    });
    expect(
      await store.respond(park?.toolCallId ?? "", { approved: true, arguments: { to: "eve@example.com" } }),
    ).toEqual({ ok: true });
    await until(store, idle);
    await same(store);
    const first = store.getSnapshot().messages[0];
    const before = store.getSnapshot().messages.length;
    await store.edit(first?.id ?? "", "Bye");
    await until(store, (s) => idle(s) && s.messages.length === 2);
    await same(store);
    await store.loadBranches();
    await store.restoreBranch(store.getSnapshot().branches?.[0]?.id ?? 0);
    await until(store, (s) => s.messages.length === before);
    await same(store);
    expect(await store.delete()).toEqual({ ok: true });
    store.close();
  });

  test("queues, steers and stops", async () => {
    const store = open();
    await store.send("slow 500");
    await until(store, (s) => s.view.drafts.length > 0);
    expect(await store.send("And then?", { whenBusy: "enqueue" })).toMatchObject({ ok: true, position: 1 });
    await until(store, (s) => s.view.queue.length === 1);
    expect(store.getSnapshot().turns).toMatchObject([{ status: "queued", position: 1 }]);
    expect(await store.send("Now")).toMatchObject({ ok: false, error: { reason: "active_run" } });
    expect(await store.stop()).toEqual({ ok: true });
    await until(store, (s) => idle(s) && s.view.queue.length === 0);
    await same(store);
    store.close();
  });

  test("is killed in the middle of an answer, three times", async () => {
    const store = open();
    await store.send("slow 60");
    for (let i = 0; i < 3; i++) {
      await until(store, (s) => s.view.drafts.length > 0);
      await kill();
      await until(store, (s) => s.connection === "reconnecting");
      await serve();
      await until(store, (s) => s.connection === "open");
    }
    await until(store, idle);
    await same(store);
    store.close();
  });

  test("asks in a nested run", async () => {
    const store = open();
    await store.send('ask researcher to use clock and ask mailer to use send_email with {"to":"ann@example.com"}');
    const { view } = await until(
      store,
      (s) => s.view.parks.length === 1 && s.view.thread.state === "WAITING_FOR_INPUT",
    );
    expect(view.parks[0]).toMatchObject({ nested: { name: "mailer", depth: 1 } });
    expect(view.runs.filter((r) => r.depth === 1).length).toBe(2);
    await same(store);
    await store.respond(view.parks[0]?.toolCallId ?? "", { approved: false, reason: "not on a Friday" });
    await until(store, idle);
    await same(store);
    store.close();
  });

  test("works with one client while the connections of another one are cut all the time", async () => {
    const cuts = new Set<AbortController>();
    const fetch: typeof globalThis.fetch = (input, init) => {
      if (!String(input).includes("/stream")) return globalThis.fetch(input, init);
      const cut = new AbortController();
      cuts.add(cut);
      return globalThis.fetch(input, { ...init, signal: AbortSignal.any([cut.signal, init?.signal ?? cut.signal]) });
    };
    let n = 0;
    const cutting = setInterval(() => {
      for (const cut of cuts) cut.abort(new TypeError("network error"));
      cuts.clear();
    }, 120);
    const seen = createThreadStore(createClient({ baseUrl, fetch, backoff: { minMs: 1, maxMs: 20 } }));
    seen.subscribe(() => n++);
    const store = open();
    const both = async (fits: (s: ThreadState) => boolean) => {
      await Promise.all([until(store, fits), until(seen, fits)]);
      await same(store);
      await same(seen);
    };
    await store.send("slow 20");
    seen.select(store.getSnapshot().threadId ?? "");
    await both((s) => idle(s) && s.messages.length > 1);
    const turn = store.getSnapshot().messages[0]?.id ?? "";
    await store.send('use send_email with {"to":"ann@example.com"}');
    await both((s) => s.view.parks.length === 1);
    await store.respond(store.getSnapshot().view.parks[0]?.toolCallId ?? "", { approved: true });
    await both((s) => idle(s) && s.view.parks.length === 0);
    await store.send("slow 30");
    await store.steer("Left");
    await store.send("And then?", { whenBusy: "enqueue" });
    await both((s) => idle(s) && s.view.queue.length === 0 && JSON.stringify(s.messages).includes("And then?"));
    await store.edit(turn, "slow 10");
    await both((s) => idle(s) && s.messages.length === 2);
    await store.loadBranches();
    await store.restoreBranch(store.getSnapshot().branches?.[0]?.id ?? 0);
    await both((s) => s.messages.length > 2);
    await store.send("slow 40");
    await until(seen, (s) => s.view.drafts.length > 0);
    await store.send("Stop that", { whenBusy: "rollback" });
    await both((s) => idle(s) && JSON.stringify(s.messages).includes("Stop that"));
    clearInterval(cutting);
    store.close();
    seen.close();
    expect(n).toBeGreaterThan(20);
  });

  test("is followed by ten clients, which all see the same", async () => {
    const stores = Array.from({ length: 10 }, open);
    const [first] = stores as [ThreadStore];
    await first.send("slow 30");
    for (const store of stores.slice(1)) store.select(first.getSnapshot().threadId ?? "");
    await Promise.all(stores.map((s) => until(s, idle)));
    for (const store of stores) {
      await same(store);
      store.close();
    }
  });
});

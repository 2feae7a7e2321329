import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAdmin } from "./admin.js";
import { createClient } from "./client.js";
import type { ClientOptions } from "./options.js";
import { type ScriptedRequest, scriptedServer } from "./testing/index.js";
import type { Client } from "./types.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function setup(options: ClientOptions = {}) {
  const server = scriptedServer();
  return { server, client: createClient({ baseUrl: "http://spool.test/base/", fetch: server.fetch, ...options }) };
}

const line = (r: ScriptedRequest | undefined) => `${r?.method} ${r?.path}${r?.query.size ? `?${r.query}` : ""}`;

describe("the operations", () => {
  test.each<[string, (c: Client) => Promise<unknown>, string, unknown?]>([
    ["run", (c) => c.run({ prompt: "Hi", fields: { shop: 7 } }), "POST /base/api/agent/run", { prompt: "Hi", shop: 7 }],
    ["stop", (c) => c.stop("t1", { runId: "r1" }), "POST /base/api/agent/control", { threadId: "t1", runId: "r1" }],
    [
      "respond",
      (c) => c.respond("t1", { toolCallId: "c1", approved: true }),
      "POST /base/api/agent/respond",
      { threadId: "t1", toolCallId: "c1", approved: true },
    ],
    [
      "history",
      (c) => c.history("t 1", { limit: 5, before: "m1" }),
      "GET /base/api/agent/history?threadId=t+1&limit=5&before=m1",
    ],
    [
      "snapshotAt a version",
      (c) => c.snapshotAt("t1", { version: 3 }),
      "GET /base/api/agent/history?threadId=t1&version=3",
    ],
    ["snapshotAt an entry", (c) => c.snapshotAt("t1", { seq: 7 }), "GET /base/api/agent/history?threadId=t1&seq=7"],
    ["record", (c) => c.record("t1"), "GET /base/api/agent/record?threadId=t1"],
    ["fork", (c) => c.fork("t1", { version: 3 }), "POST /base/api/agent/fork", { threadId: "t1", version: 3 }],
    [
      "fork to a name",
      (c) => c.fork("t1", { version: 3, newThreadId: "t2" }),
      "POST /base/api/agent/fork",
      { threadId: "t1", version: 3, newThreadId: "t2" },
    ],
    ["usage", (c) => c.usage("t1"), "GET /base/api/agent/usage?threadId=t1"],
    [
      "threads",
      (c) => c.threads({ title: "a", labels: { k: "v", l: "w" }, expired: true, limit: 2 }),
      "GET /base/api/threads?expired=true&limit=2&q=a&label=k%3Av&label=l%3Aw",
    ],
    [
      "updateThread",
      (c) => c.updateThread("t1", { title: "New" }),
      "PATCH /base/api/threads",
      { threadId: "t1", title: "New" },
    ],
    ["deleteThread", (c) => c.deleteThread("t1"), "DELETE /base/api/threads?threadId=t1"],
    ["branches", (c) => c.branches("t1"), "GET /base/api/agent/branches?threadId=t1"],
    [
      "branchMessages",
      (c) => c.branchMessages("t1", 3),
      "GET /base/api/agent/branches/messages?threadId=t1&branchId=3",
    ],
    [
      "restoreBranch",
      (c) => c.restoreBranch("t1", 3),
      "POST /base/api/agent/branches/restore",
      { threadId: "t1", branchId: 3 },
    ],
    ["events", (c) => c.events("t1", { after: 3 }), "GET /base/api/agent/events?threadId=t1&after=3"],
    [
      "publish",
      (c) => c.publish("t1", { type: "receipt", payload: 1 }),
      "POST /base/api/agent/events",
      { threadId: "t1", type: "receipt", payload: 1 },
    ],
    ["compact", (c) => c.compact("t1"), "POST /base/api/agent/compact", { threadId: "t1" }],
    ["outcome", (c) => c.outcome("r/1", { wait: "30s" }), "GET /base/api/agent/runs/r%2F1?wait=30s"],
    ["streamToken", (c) => c.streamToken("t1"), "POST /base/api/agent/stream-token", { threadId: "t1" }],
    ["artifact", (c) => c.artifact("t1", "a1"), "GET /base/api/agent/artifacts/a1?threadId=t1"],
    ["inbox", (c) => c.inbox({ tool: "send" }), "GET /base/api/agent/inbox?tool=send"],
    ["request", (c) => c.request("POST", "/own", { a: 1 }), "POST /base/own", { a: 1 }],
    [
      "admin runs",
      (c) => createAdmin(c).runs({ state: "FAILED", limit: 5 }),
      "GET /base/api/admin/runs?state=FAILED&limit=5",
    ],
    ["admin run", (c) => createAdmin(c).run("r1"), "GET /base/api/admin/runs/r1"],
    ["admin stop", (c) => createAdmin(c).stop({ runId: "r1" }), "POST /base/api/admin/stop", { runId: "r1" }],
    ["admin redrive", (c) => createAdmin(c).redrive({ all: true }), "POST /base/api/admin/jobs/redrive", { all: true }],
  ])("%s", async (_, call, want, body) => {
    const { server, client } = setup();
    const path = want.slice(0, want.includes("?") ? want.indexOf("?") : undefined);
    server.answer(path, { body: { accepted: true, delivered: true, branches: [], threadId: "t1" } });
    await call(client);
    expect(line(server.requests[0])).toBe(want);
    if (body) expect(server.requests[0]?.body).toEqual(body);
  });

  test("upload a file as it is, and sign URLs", async () => {
    const { server, client } = setup();
    server.answer("POST /base/api/agent/artifacts", { status: 201, body: { id: "a1" } });
    expect(await client.upload("t1", "a,b\n", { name: "a b.csv", mediaType: "text/csv" })).toEqual({ id: "a1" });
    expect(server.requests[0]?.query.get("name")).toBe("a b.csv");
    expect(server.requests[0]?.headers.get("Content-Type")).toBe("text/csv");
    expect(server.requests[0]?.body).toBe("a,b\n");
    await client.upload("t1", new Blob(["x"], { type: "image/png" }));
    expect(server.requests[1]?.headers.get("Content-Type")).toBe("image/png");
    server.answer("POST /base/api/agent/artifacts/a1/url", {
      body: { url: "/base/api/agent/artifacts/a1/data?token=k", expiresAt: "" },
    });
    expect((await client.artifactUrl("t1", "a1", { expiresIn: "1m" })).url).toBe(
      "http://spool.test/base/api/agent/artifacts/a1/data?token=k",
    );
  });
});

test("an inbox is answered in batches, and by links", async () => {
  const { server, client } = setup();
  const results = [{ threadId: "t1", toolCallId: "c1", delivered: false, reason: "changed" }];
  server.answer("POST /base/api/agent/inbox/answers", { body: { results } });
  const answers = [{ threadId: "t1", toolCallId: "c1", digest: "sha256:1", approved: true }];
  expect(await client.answerInbox(answers)).toEqual(results);
  expect(server.requests[0]?.body).toEqual({ answers });
  const made = { url: "/base/api/agent/inbox/links/k", expiresAt: "", linkId: "l1" };
  server.answer("POST /base/api/agent/inbox/links", { body: made });
  const link = { threadId: "t1", toolCallId: "c1", approver: "ann@example.com" };
  expect(await client.inboxLink(link)).toEqual({ ...made, url: `http://spool.test${made.url}` });
  expect(server.requests[1]?.body).toEqual(link);
  server.answer("GET /base/api/agent/inbox/links", { body: { links: [{ ...link, linkId: "l1" }] } });
  expect(await client.inboxLinks({ limit: 1, after: "l0" })).toEqual([{ ...link, linkId: "l1" }]);
  expect(String(server.requests[2]?.query)).toBe("limit=1&after=l0");
  server.answer("DELETE /base/api/agent/inbox/links", { body: { ...link, linkId: "l1" } });
  expect((await client.revokeInboxLink("l1")).linkId).toBe("l1");
  expect(String(server.requests[3]?.query)).toBe("linkId=l1");
});

describe("a failure", () => {
  test.each([
    [
      { status: 400, body: { error: "attachments[0].url names a host that is not allowed", code: "invalid" } },
      { code: "invalid", status: 400, field: "attachments[0].url" },
    ],
    [
      { status: 400, body: { error: "arguments: unexpected additional properties", code: "invalid" } },
      { code: "invalid", field: "arguments" },
    ],
    [{ status: 400, body: { error: "Thread is wrong", code: "invalid", field: "threadId" } }, { field: "threadId" }],
    [
      { status: 404, body: { error: "Thread not found" } },
      { code: "not_found", message: "Thread not found" },
    ],
    [
      { status: 507, body: { error: "full", code: "storage_full" }, headers: { "X-Request-ID": "req_1" } },
      { code: "storage_full", requestId: "req_1" },
    ],
    [
      { status: 502, body: "<html>" },
      { code: "unavailable", message: "the server answered 502", native: false },
    ],
    [
      { status: 409, body: { reason: "no" } },
      { code: "conflict", message: "no", reason: "no" },
    ],
    ["network" as const, { code: "unavailable", message: "the server cannot be reached" }],
  ])("%j", async (answer, want) => {
    const { server, client } = setup({ retries: 0 });
    server.answer("GET /base/api/agent/history", answer);
    const error = await client.history("t1").catch((e) => e);
    expect(error).toMatchObject({ name: "SpoolError", ...want });
  });

  test("of a request that may pass is tried again, with the wait of the server", async () => {
    const { server, client } = setup();
    server.answer("GET /base/api/agent/history", { status: 503, body: {}, headers: { "Retry-After": "20" } }, 2);
    server.answer("GET /base/api/agent/history", { body: { ok: 1 } }, 0);
    const asked = client.history("t1").catch((e) => e);
    await vi.advanceTimersByTimeAsync(19_000);
    expect(server.requests.length).toBe(1);
    await vi.advanceTimersByTimeAsync(11_000);
    expect(server.requests.length).toBe(2);
    await vi.advanceTimersByTimeAsync(31_000);
    expect(await asked).toMatchObject({ status: 404 });
  });

  test("of a start is tried again only with a key", async () => {
    const { server, client } = setup();
    server.answer("POST /base/api/agent/run", "network", 1);
    await expect(client.run({ prompt: "Hi" })).rejects.toMatchObject({ code: "unavailable" });
    expect(server.requests.length).toBe(1);
    server.answer("POST /base/api/agent/run", "network", 1);
    server.answer("POST /base/api/agent/run", { status: 202, body: { accepted: true, threadId: "t1" } });
    server.answer("POST /base/api/agent/run", "network", 1);
    const run = client.run({ prompt: "Hi" }, { idempotencyKey: "k" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await run).toMatchObject({ accepted: true });
    expect(server.requests.slice(1).map((r) => r.headers.get("Idempotency-Key"))).toEqual(["k", "k"]);
  });

  test("that is a refusal is a result", async () => {
    const { server, client } = setup({ retries: 0 });
    const refusal = { accepted: false, threadId: "t1", reason: "queue_full", error: "full", code: "queue_full" };
    server.answer("POST /base/api/agent/run", { status: 503, body: refusal, headers: { "Retry-After": "5" } });
    expect(await client.run({ prompt: "Hi" })).toEqual({ ...refusal, retryAfterMs: 5000 });
    server.answer("POST /base/api/agent/run", { status: 200, body: { threadId: "t1" } });
    expect(await client.run({ prompt: "Hi" })).toMatchObject({ accepted: false });
  });

  test("of a signal is a cancellation", async () => {
    const { server, client } = setup();
    server.answer("GET /base/api/agent/history", "network");
    const stop = new AbortController();
    const asked = client.history("t1", { signal: stop.signal }).catch((e) => e);
    await vi.advanceTimersByTimeAsync(100);
    stop.abort();
    expect(await asked).toMatchObject({ code: "canceled" });
    expect(server.requests.length).toBe(1);
  });
});

describe("credentials", () => {
  test("come with every request, and are renewed once after a 401", async () => {
    let n = 0;
    const { server, client } = setup({
      token: async () => `k${++n}`,
      headers: () => ({ "X-Own": "1" }),
      credentials: "include",
    });
    server.answer("GET /base/api/agent/usage", (r) =>
      r.headers.get("Authorization") === "Bearer k2" ? { body: { ok: true } } : { status: 401, body: { error: "no" } },
    );
    expect(await client.usage("t1")).toEqual({ ok: true });
    expect(server.requests.map((r) => [r.headers.get("Authorization"), r.headers.get("X-Own")])).toEqual([
      ["Bearer k1", "1"],
      ["Bearer k2", "1"],
    ]);
    server.answer("GET /base/api/agent/usage", { status: 401, body: { error: "no" } });
    await expect(client.usage("t1")).rejects.toMatchObject({ code: "unauthorized" });
    expect(server.requests.length).toBe(4);
  });

  test("that do not change are not sent twice", async () => {
    const { server, client } = setup({ token: () => "k" });
    server.answer("GET /base/api/agent/usage", { status: 401, body: { error: "no" } });
    await expect(client.usage("t1")).rejects.toMatchObject({ code: "unauthorized" });
    expect(server.requests.length).toBe(1);
  });
});

describe("routes", () => {
  test("can be moved, and a function returns the whole URL", async () => {
    const urls: string[] = [];
    const fetch = async (url: unknown) => {
      urls.push(String(url));
      return new Response("{}");
    };
    const client = createClient({
      baseUrl: "http://spool.test",
      fetch: fetch as typeof globalThis.fetch,
      routes: {
        run: "/chat/start",
        usage: ({ threadId }) => `https://usage.test/${threadId}`,
        outcome: "/chat/:runId/outcome?v=1",
        history: "https://other.test/h",
      },
    });
    await client.run({ prompt: "Hi" });
    await client.usage("t1");
    await client.outcome("r1", { wait: "1s" });
    await client.history("t1");
    expect(urls).toEqual([
      "http://spool.test/chat/start",
      "https://usage.test/t1",
      "http://spool.test/chat/r1/outcome?v=1&wait=1s",
      "https://other.test/h?threadId=t1",
    ]);
  });

  test("are of the page's origin without a base, and there must be a page", async () => {
    await expect(createClient().usage("t1")).rejects.toMatchObject({ code: "invalid", field: "baseUrl" });
    vi.stubGlobal("location", { href: "https://page.test/a/b" });
    const urls: unknown[] = [];
    const fetch = (async (url: unknown) => {
      urls.push(url);
      return new Response("{}");
    }) as typeof globalThis.fetch;
    await createClient({ fetch }).usage("t1");
    expect(urls).toEqual(["https://page.test/api/agent/usage?threadId=t1"]);
  });

  test("of streams have their parameters in order, percent-encoded", async () => {
    const urls: string[] = [];
    const openStream = (url: string) => {
      urls.push(url);
      return { close: () => {} };
    };
    const client = createClient({ baseUrl: "http://spool.test", openStream });
    const stop = new AbortController();
    const options = { cursor: "4 r1:1 3", lastMessageId: "m1", signal: stop.signal };
    const next = client.follow("t1", options)[Symbol.asyncIterator]().next();
    stop.abort();
    expect((await next).done).toBe(true);
    expect(urls).toEqual(["http://spool.test/api/agent/stream?threadId=t1&cursor=4%20r1%3A1%203&lastMessageId=m1"]);
  });
});

describe("a request that cannot be sent", () => {
  const client = (options: Parameters<typeof createClient>[0]) =>
    createClient({ baseUrl: "http://spool.test", fetch: scriptedServer().fetch, ...options });

  test("says what of it is wrong, and is not tried again", async () => {
    const sent = client({}).run({ prompt: "Hello", providerOptions: { n: 1n } }, { idempotencyKey: "k" });
    await expect(sent).rejects.toMatchObject({ code: "invalid", message: "the request cannot be written as JSON" });
  });

  test("says that there are no credentials", async () => {
    const token = () => Promise.reject(new Error("offline"));
    const message = "the token or the headers could not be had";
    await expect(client({ token, retries: 0 }).usage("t1")).rejects.toMatchObject({ code: "unavailable", message });
  });

  test.each(["localhost:8080", "127.0.0.1:8080", "spool"])("says what a base begins with: %s", async (baseUrl) => {
    const message = "baseUrl must be a whole URL, or a path where there is a page";
    await expect(client({ baseUrl }).usage("t1")).rejects.toMatchObject({ code: "invalid", field: "baseUrl", message });
  });

  test("goes to the page's origin if the base is a path", async () => {
    const server = scriptedServer();
    vi.stubGlobal("location", { href: "https://app.example/chat?x=1" });
    await createClient({ baseUrl: "/spool/", fetch: server.fetch })
      .usage("t1")
      .catch(() => {});
    vi.unstubAllGlobals();
    expect(server.requests[0]?.path).toBe("/spool/api/agent/usage");
  });
});

test("a long wait before another attempt is the caller's", async () => {
  const server = scriptedServer();
  const answer = { status: 503, headers: { "Retry-After": "3600" }, body: { error: "busy", code: "unavailable" } };
  server.answer("POST /api/agent/run", answer);
  const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
  const sent = client.run({ prompt: "Hello" }, { idempotencyKey: "k" });
  await expect(sent).rejects.toMatchObject({ code: "unavailable", retryAfterMs: 3_600_000 });
  expect(server.requests.length).toBe(1);
});

test("an artifact that breaks off is a failure of this package's", async () => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
  const client = createClient({ baseUrl: "http://spool.test", fetch: async () => new Response(body) });
  await expect(client.artifact("t1", "a1")).rejects.toMatchObject({ name: "SpoolError", code: "unavailable" });
});

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../client.js";
import { scriptedServer, snapshotOf } from "../testing/index.js";
import { pass, setup, shown } from "./setup.test-util.js";
import { createThreadStore } from "./store.js";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:30:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

const run = "POST /api/agent/run";

describe("a turn", () => {
  test("is shown at once, and becomes its message", async () => {
    const b = await setup();
    const sent = b.store.send("Hello", {
      clientMessageId: "c-1",
      attachments: [{ url: "https://example.com/cat.png" }],
    });
    expect(shown(b.state)).toBe("(Hello sending)");
    expect(await sent).toEqual({ ok: true, threadId: "t1", runId: "r1", clientMessageId: "c-1" });
    expect(shown(b.state)).toBe("(Hello accepted)");
    const [request] = b.server.sent(run);
    expect(request?.body).toEqual({
      threadId: "t1",
      prompt: "Hello",
      clientMessageId: "c-1",
      attachments: [{ url: "https://example.com/cat.png" }],
    });
    expect(request?.headers.get("Idempotency-Key")).toBe("c-1");
    b.thread.state("QUEUED").turn("m1", "Hello", { clientMessageId: "c-1" });
    await pass();
    expect(shown(b.state)).toBe("Hello");
    expect(b.state.turns).toEqual([]);
  });

  test("whose message comes before the answer is shown once", async () => {
    const b = await setup();
    let answer = () => {};
    b.server.answer(
      run,
      () =>
        new Promise((resolve) => {
          answer = () => resolve({ status: 202, body: { accepted: true, threadId: "t1", runId: "r1" } });
        }),
    );
    const sent = b.store.send("Hello", { clientMessageId: "c-1" });
    await pass();
    b.thread.turn("m1", "Hello", { clientMessageId: "c-1" });
    await pass();
    expect(shown(b.state)).toBe("Hello");
    answer();
    await sent;
    expect(shown(b.state)).toBe("Hello");
  });

  test("that the server refuses leaves everything as it was", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start();
    await pass();
    const before = b.state;
    const refusal = { accepted: false, threadId: "t1", reason: "active_run", error: "Thread has an active run" };
    b.server.answer(run, { status: 409, body: refusal }, 1);
    const result = await b.store.send("More", { clientMessageId: "c-2" });
    expect(result).toMatchObject({
      ok: false,
      clientMessageId: "c-2",
      error: { code: "conflict", reason: "active_run", message: "Thread has an active run", result: refusal },
    });
    expect(b.state.error).toBe(result.ok ? null : result.error);
    b.store.dismissError();
    for (const key of ["view", "messages", "turns", "threadId", "error"] as const) {
      if (key === "turns") expect(b.state.turns).toEqual(before.turns);
      else expect(b.state[key]).toBe(before[key]);
    }
  });

  test("is sent again with the same id, by the client and by the user", async () => {
    const b = await setup({}, { retries: 1 });
    b.server.answer(run, "network", 2);
    const sent = b.store.send("Hello", { model: "m" });
    await pass(5_000);
    expect(await sent).toMatchObject({ ok: false, error: { code: "unavailable" } });
    const again = b.store.retry();
    expect(shown(b.state)).toBe("(Hello sending)");
    expect(await again).toMatchObject({ ok: true });
    const requests = b.server.sent(run);
    expect(requests.length).toBe(3);
    expect(new Set(requests.map((r) => r.headers.get("Idempotency-Key"))).size).toBe(1);
    expect(new Set(requests.map((r) => JSON.stringify(r.body))).size).toBe(1);
    expect(await b.store.retry()).toBe(null);
  });

  test("waits with its place in the queue, also for others", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start();
    await pass();
    b.server.answer(run, { status: 202, body: { accepted: true, threadId: "t1", runId: "r2", position: 2 } }, 1);
    await b.store.send("And then?", { clientMessageId: "c-2", whenBusy: "enqueue" });
    expect(shown(b.state)).toBe("Hello | (And then? queued 2)");
    const waiting = (position: number) => ({
      queue: [
        { runId: "r2", position, whenBusy: "enqueue", clientMessageId: "c-2", enqueuedAt: "2026-11-21T09:30:00Z" },
      ],
    });
    b.thread.state("RUNNING", waiting(1));
    await pass();
    expect(shown(b.state)).toBe("Hello | (And then? queued 1)");
    b.thread.finish();
    b.thread.turn("m2", "And then?", { clientMessageId: "c-2", runId: "r2" }).state("QUEUED", { runId: "r2" });
    await pass();
    expect(shown(b.state)).toBe("Hello | And then?");
    expect(b.state.view.queue).toEqual([]);
  });

  test("whose run is cancelled while it waits goes", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start();
    b.server.answer(run, { status: 202, body: { accepted: true, threadId: "t1", runId: "r2", position: 1 } }, 1);
    await b.store.send("And then?", { clientMessageId: "c-2", whenBusy: "enqueue" });
    const place = {
      runId: "r2",
      position: 1,
      whenBusy: "enqueue",
      clientMessageId: "c-2",
      enqueuedAt: "2026-11-21T09:30:00Z",
    };
    b.thread.state("RUNNING", { queue: [place] }).state("RUNNING");
    await pass();
    expect(shown(b.state)).toBe("Hello | (And then? accepted)");
    b.thread.snapshot = snapshotOf("t1", {
      state: "RUNNING",
      runs: [{ id: "r2", threadId: "t1", state: "CANCELLED" } as never],
      messages: [...b.state.view.messages] as never,
      lastEventSeq: 1,
    });
    await pass(6_000);
    expect(shown(b.state)).toBe("Hello");
  });

  test("is steered into the active run", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start().text("step one");
    b.server.answer(
      run,
      { status: 202, body: { accepted: true, threadId: "t1", runId: "r2", position: 1, steers: "r1" } },
      1,
    );
    await b.store.steer("Left", { clientMessageId: "c-2" });
    expect(b.server.sent(run)[0]?.body).toMatchObject({ whenBusy: "steer" });
    b.thread.step().turn("m2", "Left", { clientMessageId: "c-2" });
    b.thread
      .entry("STEERED", { runId: "r1", steerRunId: "r2", messageId: "m2", clientMessageId: "c-2", steps: 1 })
      .text("step two");
    await pass();
    expect(shown(b.state)).toBe("Hello | step one | Left | step two");
  });

  test("begins a thread, and the next ones wait for its id", async () => {
    const server = scriptedServer();
    const selected: (string | null)[] = [];
    const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
    const store = createThreadStore(client, { defaults: { agent: "clerk" }, onThread: (id) => selected.push(id) });
    store.subscribe(() => {});
    expect(store.getSnapshot()).toMatchObject({ threadId: null, loading: false, connection: "closed" });
    const first = store.send("One");
    const second = store.send("Two", { whenBusy: "enqueue" });
    const stopped = store.stop();
    expect(shown(store.getSnapshot())).toBe("(One sending) | (Two sending)");
    server.thread("t1").snapshot = snapshotOf("t1", { state: "QUEUED" });
    expect(await first).toMatchObject({ ok: true, threadId: "t1" });
    expect(await second).toMatchObject({ ok: true, threadId: "t1" });
    expect(await stopped).toEqual({ ok: true });
    expect(server.sent(run).map((r) => r.body)).toMatchObject([
      { agent: "clerk", prompt: "One" },
      { threadId: "t1", prompt: "Two" },
    ]);
    expect(server.sent(run)[0]?.body).not.toHaveProperty("threadId");
    expect(selected).toEqual(["t1"]);
    await pass();
    expect(store.getSnapshot()).toMatchObject({ threadId: "t1", connection: "open" });
    store.close();
  });

  test("of a thread that is not shown any more changes nothing", async () => {
    const b = await setup();
    let answer = () => {};
    b.server.answer(
      run,
      () =>
        new Promise((resolve) => {
          answer = () => resolve({ status: 409, body: { accepted: false, error: "no", reason: "active_run" } });
        }),
    );
    const sent = b.store.send("Hello");
    await pass();
    b.server.thread("t2").snapshot = snapshotOf("t2");
    b.store.select("t2");
    await pass();
    answer();
    expect(await sent).toMatchObject({ ok: false });
    expect(b.state).toMatchObject({ threadId: "t2", error: null, turns: [] });
  });

  test("is told by its text where a host does not know its id", async () => {
    const b = await setup();
    b.thread.turn("m1", "yes", { clientMessageId: undefined });
    await pass();
    await b.store.send("yes");
    await pass();
    expect(shown(b.state)).toBe("yes | (yes accepted)");
    b.thread.turn("m2", "yes", { clientMessageId: undefined, runId: undefined });
    await pass();
    expect(shown(b.state)).toBe("yes | yes");
  });
});

test("two turns that say the same become two messages, also where a host does not know their ids", async () => {
  const b = await setup();
  await b.store.send("yes");
  await b.store.send("yes", { whenBusy: "enqueue" });
  b.thread.turn("m1", "yes", { runId: undefined });
  await pass();
  expect(shown(b.state)).toBe("yes | (yes accepted)");
  b.thread.turn("m2", "yes", { runId: undefined });
  await pass();
  expect(shown(b.state)).toBe("yes | yes");
});

describe("an edit", () => {
  test("hides what it replaces, and brings it back when it is refused", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start().text("Hi").step().finish();
    b.thread.turn("m2", "More", { runId: "r2" });
    await pass();
    const { messages } = b.state;
    b.server.answer(run, { status: 409, body: { accepted: false, error: "Message not found" } }, 1);
    const edit = b.store.edit("m2", "Less");
    expect(shown(b.state)).toBe("Hello | Hi | (Less sending)");
    expect(await edit).toMatchObject({ ok: false, error: { message: "Message not found" } });
    expect(b.state.messages).toBe(messages);
    const again = b.store.edit("m1", "Bye", { clientMessageId: "c-3" });
    expect(shown(b.state)).toBe("(Bye sending)");
    await again;
    expect(b.server.sent(run)[1]?.body).toMatchObject({ editMessageId: "m1", prompt: "Bye" });
    b.thread
      .entry("MESSAGES_DROPPED", { fromMessageId: "m1" })
      .turn("m3", "Bye", { clientMessageId: "c-3", runId: "r3" });
    await pass();
    expect(shown(b.state)).toBe("Bye");
  });

  test("of a message that is not confirmed, or not the user's, is refused at once", async () => {
    const b = await setup();
    b.thread.state("QUEUED").turn("m1", "Hello").start().text("Hi").step();
    await pass();
    const answerId = b.state.messages.at(-1)?.id ?? "";
    expect(await b.store.edit("c-1", "Bye")).toMatchObject({
      ok: false,
      error: { code: "not_found", field: "editMessageId" },
    });
    expect(await b.store.edit(answerId, "Bye")).toMatchObject({ ok: false, error: { code: "invalid" } });
    expect(b.server.sent(run).length).toBe(0);
    expect(shown(b.state)).toBe("Hello | Hi");
  });
});

test("a message that is there already is not that of a later turn with the same text", async () => {
  const b = await setup();
  await b.store.send("yes");
  await b.store.send("yes", { whenBusy: "enqueue" });
  b.thread.turn("m1", "yes", { runId: undefined });
  await pass();
  b.thread.start().text("One");
  await pass();
  expect(shown(b.state)).toBe("yes | One | (yes accepted)");
});

describe("a turn that is sent before the first snapshot", () => {
  const old = "2026-11-21T08:00:00Z";
  const said = (id: string, createdAt: string, fields = {}) => ({
    id,
    threadId: "t1",
    role: "user" as const,
    content: "yes",
    createdAt,
    agentId: null,
    ...fields,
  });

  test.each([
    ["of an older turn with the same text", [said("m1", old)], "yes | (yes sending)"],
    ["of an older turn without a time", [said("m1", "")], "yes | (yes sending)"],
    ["of its own, which is newer", [said("m1", old), said("m2", "2026-11-21T09:30:00.5Z")], "yes | yes"],
    ["of its own, by a clock that is behind", [said("m1", "2026-11-21T09:29:58Z")], "yes"],
    ["of its own, by its id", [said("m1", old, { clientMessageId: "c-1" })], "yes"],
    [
      "of another turn, by its id",
      [said("m1", "2026-11-21T09:30:01Z", { clientMessageId: "c-2" })],
      "yes | (yes sending)",
    ],
  ])("is matched with the message %s", async (_, messages, shows) => {
    const server = scriptedServer();
    server.thread("t1").snapshot = snapshotOf("t1", { messages });
    let answer = () => {};
    const wait = () =>
      new Promise<undefined>((resolve) => {
        answer = () => resolve(undefined);
      });
    server.answer("GET /api/agent/history", wait, 1);
    server.answer(run, () => new Promise(() => {}));
    const store = createThreadStore(createClient({ baseUrl: "http://spool.test", fetch: server.fetch }), {
      threadId: "t1",
    });
    store.subscribe(() => {});
    await pass();
    void store.send("yes", { clientMessageId: "c-1" });
    await pass();
    answer();
    await pass();
    expect(store.getSnapshot().loading).toBe(false);
    expect(shown(store.getSnapshot())).toBe(shows);
    store.close();
  });
});

test("a turn that waits keeps its place when a state without a queue comes", async () => {
  const b = await setup();
  b.thread.state("QUEUED").turn("m1", "Hello").start();
  await pass();
  b.server.answer(run, { status: 202, body: { accepted: true, threadId: "t1", runId: "r2", position: 1 } }, 1);
  await b.store.send("More", { whenBusy: "enqueue" });
  b.thread.state("RUNNING"); // the server has sent it before the start
  await pass();
  expect(shown(b.state)).toBe("Hello | (More queued 1)");
});

describe("what a turn has", () => {
  const said = {
    id: "m1",
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", image: "data:image/png;base64,AA==", mimeType: "image/png" },
      { type: "file", file: "artifact:a1", fileName: "b.pdf", mimeType: "application/pdf" },
    ],
  };
  const attachments = [
    { url: "data:image/png;base64,AA==", mediaType: "image/png" },
    { artifactId: "a1", mediaType: "application/pdf", name: "b.pdf" },
  ];

  test("stays when it is answered again, and when its text is another one", async () => {
    const b = await setup();
    b.thread.snapshot = snapshotOf("t1", { messages: [said] as never });
    b.store.refresh();
    await pass();
    await b.store.regenerate();
    expect(b.server.sent(run).at(-1)?.body).toMatchObject({
      prompt: "What is this?",
      editMessageId: "m1",
      attachments,
    });
    await b.store.edit("m1", "And this?");
    expect(b.server.sent(run).at(-1)?.body).toMatchObject({ prompt: "And this?", attachments });
    await b.store.edit("m1", "Without", { attachments: [] });
    expect(b.server.sent(run).at(-1)?.body).not.toHaveProperty("attachments");
    expect(await b.store.regenerate("m9")).toMatchObject({ ok: false, error: { code: "not_found" } });
  });

  test("is a file, and fields of the host's own", async () => {
    const b = await setup({ defaults: { fields: { shop: 7, lang: "de" } } });
    const file = new File(["# Hi"], "notes.md");
    const sent = b.store.send("Read", { attachments: [file], fields: { lang: "en" } });
    expect(b.state.turns[0]?.attachments).toMatchObject([{ name: "notes.md", mediaType: "text/markdown" }]);
    await sent;
    const { body } = b.server.sent(run)[0] ?? {};
    const data = { url: "data:text/markdown;base64,IyBIaQ==", name: "notes.md", mediaType: "text/markdown" };
    expect(body).toMatchObject({ prompt: "Read", shop: 7, lang: "en", attachments: [data] });
    expect(body).not.toHaveProperty("fields");
  });

  test("is a large file, which a thread takes", async () => {
    const b = await setup();
    b.server.answer("POST /api/agent/artifacts", { status: 201, body: { id: "a7" } });
    const large = new File([new Uint8Array((5 << 20) + 1)], "film.mp4", { type: "video/mp4" });
    await b.store.send("See", { attachments: [large] });
    const artifact = { artifactId: "a7", name: "film.mp4", mediaType: "video/mp4" };
    expect(b.server.sent(run)[0]?.body).toMatchObject({ attachments: [artifact] });
    b.store.newThread();
    const refused = await b.store.send("See", { attachments: [large] });
    expect(refused).toMatchObject({ ok: false, error: { code: "invalid", field: "attachments" } });
  });
});

test("a refused answer is not a turn that can be sent again", async () => {
  const b = await setup();
  b.thread.start().park("c1");
  await pass();
  b.server.answer("POST /api/agent/respond", { status: 400, body: { error: "to is missing", code: "invalid" } });
  await b.store.respond("c1", { approved: true, arguments: {} });
  expect([b.state.error?.message, b.state.unsent]).toEqual(["to is missing", null]);
  b.server.answer(run, { status: 400, body: { error: "no", code: "invalid" } }, 1);
  await b.store.send("Hello");
  expect([b.state.error?.message, b.state.unsent]).toEqual(["no", "Hello"]);
  expect(await b.store.retry()).toMatchObject({ ok: true });
  expect(b.state.unsent).toBe(null);
});

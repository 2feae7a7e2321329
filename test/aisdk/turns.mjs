// Turns beyond question and answer: files, JSON values, stops, older turns again, queues, steers and two tabs. It fails with what is
// wrong.
import assert from "node:assert/strict";
import { last, newChat, open, play, same, saved, server, shown, text, until } from "./client.mjs";

const gif = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const writes = (c, words) => until(`the words ${words}`, () => last(c)?.role === "assistant" && text(last(c)) === words);
const stop = (id) => fetch(`${server}/api/chat/${id}/stop`, { method: "POST" });

const stories = {
  async files() {
    const c = newChat("files");
    await c.chat.sendMessage({
      text: "text",
      files: [
        { type: "file", mediaType: "image/gif", url: gif },
        { type: "file", mediaType: "image/png", url: "https://example.com/cat.png" },
        { type: "file", mediaType: "text/csv", filename: "cities.csv", url: "data:text/csv;base64,Y2l0eSxwZW9wbGUKT3Nsbyw3MTc3MTA=" },
      ],
    });
    assert.equal(c.chat.status, "ready", String(c.errors));
    await same(c, "files");
    // An image keeps no name, any other file does.
    const named = newChat("named");
    const files = [
      { type: "file", mediaType: "image/gif", filename: "dot.gif", url: gif },
      { type: "file", mediaType: "text/csv", filename: "cities.csv", url: "data:text/csv;base64,Y2l0eSxwZW9wbGUKT3Nsbyw3MTc3MTA=" },
    ];
    await named.chat.sendMessage({ text: "text", files });
    assert.deepEqual((await saved("named"))[0].parts.map((p) => p.filename), [undefined, "cities.csv", undefined]);
    for (const [files, field] of [
      [[{ type: "file", mediaType: "image/png", url: gif }], /attachments\[0\]\.mediaType is not the one/],
      [[{ type: "file", mediaType: "image/png", url: "http://169.254.169.254/x" }], /attachments\[0\]\.url names a host/],
      [[{ type: "file", mediaType: "application/x-sh", url: "data:application/x-sh;base64,YQ==" }], /attachments\[0\]/],
      [Array(9).fill({ type: "file", mediaType: "image/gif", url: gif }), /attachments/],
    ]) {
      const bad = newChat("badfiles");
      await bad.chat.sendMessage({ text: "text", files });
      assert.equal(bad.chat.status, "error");
      assert.match(JSON.parse(bad.chat.error.message).error, field);
      assert.deepEqual(await saved("badfiles"), []);
    }
  },
  async output() {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
    const c = newChat("output", { body: { output: { name: "place", schema } } });
    await c.chat.sendMessage({ text: "json" });
    assert.equal(c.chat.status, "ready", String(c.errors));
    assert.deepEqual(last(c).metadata.output, { city: "Oslo" });
    assert.deepEqual(JSON.parse(text(last(c))), { city: "Oslo" });
    await same(c, "output");
  },
  async stopThenAgain() {
    const c = newChat("stopped");
    const sent = c.chat.sendMessage({ text: "slow stopped" });
    await writes(c, "One two");
    assert.equal((await stop("stopped")).status, 200);
    await sent;
    await c.chat.sendMessage({ text: "text" });
    assert.equal(c.chat.status, "ready", String(c.errors));
    assert.equal(text(last(c)), "Hello to you.");
    assert.deepEqual(shown(c.chat.messages.slice(-2)), shown((await saved("stopped")).slice(-2)));
    // The hook's own stop only ends the stream: the run goes on, and comes back with a resume.
    const mine = c.chat.sendMessage({ text: "slow mine" });
    await writes(c, "One two");
    await c.chat.stop();
    await mine;
    assert.equal(c.chat.status, "ready");
    const resumed = c.chat.resumeStream();
    await writes(c, "One two");
    await open("mine");
    await resumed;
    assert.deepEqual(shown(c.chat.messages.slice(-2)), shown((await saved("stopped")).slice(-2)));
  },
  async older() {
    const c = newChat("older");
    for (const words of ["text", "tools o", "text"]) await c.chat.sendMessage({ text: words });
    assert.equal(c.chat.messages.length, 6);
    await c.chat.regenerate({ messageId: c.chat.messages[3].id });
    assert.equal(c.chat.messages.length, 4);
    assert.equal(text(last(c)), "I look.|Found it.");
    await same(c, "older");
    await c.chat.sendMessage({ text: "text", messageId: c.chat.messages[0].id });
    assert.equal(c.chat.messages.length, 2);
    await same(c, "older");
  },
  async queue() {
    const c = newChat("queue", { body: { whenBusy: "enqueue" } });
    const first = c.chat.sendMessage({ text: "slow queue" });
    await writes(c, "One two");
    const other = newChat("queue", { body: { whenBusy: "enqueue" }, messages: await saved("queue") });
    const second = other.chat.sendMessage({ text: "text" });
    await until("the post", () => other.status === 200);
    await open("queue");
    await Promise.all([first, second]);
    assert.equal(text(last(other)), "Hello to you.");
    assert.deepEqual(shown([last(other)]), shown([(await saved("queue")).at(-1)]));
    assert.equal((await saved("queue")).length, 4);
  },
  async queueInOneTab() {
    const c = newChat("one", { body: { whenBusy: "enqueue" } });
    const first = c.chat.sendMessage({ text: "slow one" });
    await writes(c, "One two");
    const second = c.chat.sendMessage({ text: "text" });
    await until("the second post", () => c.posts === 2);
    await open("one");
    await Promise.all([first, second]);
    await until("the end", () => c.chat.status === "ready");
    await same(c, "one");
  },
  async interrupt() {
    const c = newChat("interrupt", { body: { whenBusy: "interrupt" } });
    const first = c.chat.sendMessage({ text: "slow interrupt" });
    await writes(c, "One two");
    const second = c.chat.sendMessage({ text: "text" });
    await Promise.all([first, second]);
    await until("the end", () => c.chat.status === "ready");
    assert.equal(text(last(c)), "Hello to you.");
    assert.deepEqual(shown([last(c)]), shown([(await saved("interrupt")).at(-1)]));
  },
  async busy() {
    const c = newChat("busy");
    const first = c.chat.sendMessage({ text: "slow busy" });
    await writes(c, "One two");
    const other = newChat("busy", { messages: await saved("busy") });
    await other.chat.sendMessage({ text: "text" });
    assert.equal(other.chat.status, "error");
    assert.equal(JSON.parse(other.chat.error.message).reason, "active_run");
    await open("busy");
    await first;
    assert.equal((await saved("busy")).length, 2);
  },
  // A page may leave out the messages before the last one.
  async lastOnly() {
    const prepare = ({ id, messages, trigger, messageId, body }) => ({ body: { ...body, id, trigger, messageId, messages: messages.slice(-1) } });
    const c = newChat("short", { prepare, automatic: true });
    for (const words of ["text", "send short"]) await c.chat.sendMessage({ text: words });
    await c.chat.addToolApprovalResponse({ id: last(c).parts.find((p) => p.type === "tool-send").approval.id, approved: true });
    await until("the end", () => c.chat.status === "ready" && text(last(c)) === "I send.|Sent.");
    await c.chat.regenerate({ messageId: c.chat.messages[1].id });
    await c.chat.sendMessage({ text: "tools short", messageId: c.chat.messages[0].id });
    assert.equal(text(last(c)), "I look.|Found it.");
    await same(c, "short");
  },
  async twoTabs() {
    const a = newChat("tabs", { automatic: true });
    await a.chat.sendMessage({ text: "send tabs" });
    const b = newChat("tabs", { automatic: true, messages: await saved("tabs") });
    const id = last(a).parts.find((p) => p.type === "tool-send").approval.id;
    await a.chat.addToolApprovalResponse({ id, approved: true });
    await b.chat.addToolApprovalResponse({ id, approved: false }); // too late: it sees what the first one did
    for (const c of [a, b]) {
      await until("the end", () => c.chat.status === "ready" && text(last(c)) === "I send.|Sent.").catch(() => assert.fail(JSON.stringify([c === a, c.chat.status, String(c.chat.error), last(c)])));
      await same(c, "tabs");
    }
    const sent = a.chat.sendMessage({ text: "slow both" });
    await writes(a, "One two");
    const c = newChat("tabs", { messages: await saved("tabs"), strict: true });
    const follows = c.chat.resumeStream();
    await writes(c, "One two");
    await open("both");
    await Promise.all([sent, follows]);
    assert.deepEqual(shown(c.chat.messages), shown(a.chat.messages));
    await same(c, "tabs");
  },
};

await play(stories);

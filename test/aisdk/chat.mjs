// Drives the client against the server. It fails with what is wrong.
import assert from "node:assert/strict";
import { last, newChat, open, part, play, same, saved, server, shown, text, until, version } from "./client.mjs";

const stories = {
  async text() {
    const c = newChat("text");
    await c.chat.sendMessage({ text: "text" });
    assert.equal(c.chat.status, "ready", String(c.errors));
    assert.equal(text(last(c)), "Hello to you.");
    assert.equal(part(c, "reasoning").text, "I think.");
    assert.equal(last(c).metadata.usage.totalTokens, 7);
    await same(c, "text");
  },
  async tools() {
    const c = newChat("tools");
    await c.chat.sendMessage({ text: "tools t" });
    assert.deepEqual(part(c, "tool-lookup").output, { n: 1 });
    assert.equal(part(c, "tool-broken").state, "output-error", JSON.stringify(part(c, "tool-broken")));
    await same(c, "tools");
    await c.chat.sendMessage({ text: "text" });
    assert.equal(c.chat.messages.length, 4);
    await same(c, "tools");
  },
  async cites() {
    const c = newChat("cites");
    await c.chat.sendMessage({ text: "cites x" });
    assert.equal(c.chat.status, "ready", String(c.errors));
    const sources = last(c).parts.filter((p) => p.type.startsWith("source-"));
    assert.deepEqual(sources.map(({ type, url, title }) => [type, url, title]), [
      ["source-url", "https://example.com/b", "B"],
      ["source-url", "https://example.com/a", "A"],
      ["source-document", undefined, "a.pdf"],
    ]);
    assert.equal(new Set(sources.map((p) => p.sourceId)).size, 3);
    const [{ start, end }] = sources[1].providerMetadata.spool.spans;
    assert.equal([...text(last(c)).split("|")[1]].slice(start, end).join(""), "Ä🙂 it");
    await same(c, "cites");
  },
  async draws() {
    const c = newChat("draws");
    await c.chat.sendMessage({ text: "draws x" });
    assert.equal(c.chat.status, "ready", String(c.errors));
    const { url, mediaType } = part(c, "file");
    assert.equal(mediaType, "text/csv");
    assert.match(url, /^\/api\/agent\/artifacts\/art_[0-9a-f]+\?threadId=draws$/);
    assert.equal(await (await fetch(new URL(url, server))).text(), "a,b\n");
    await same(c, "draws");
    await c.chat.sendMessage({ text: "text", files: [{ type: "file", url, mediaType }] });
    assert.equal(c.chat.status, "ready", String(c.errors));
    const again = (await saved("draws"))[2].parts.find((p) => p.type === "file");
    assert.equal(again?.url, url, "the user attaches what the model made");
  },
  async repeated() {
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "text" }] };
    const post = () => fetch(`${server}/api/chat`, { method: "POST", body: JSON.stringify({ id: "repeated", messages: [message], trigger: "submit-message" }) });
    const both = await Promise.all([post(), post()]);
    for (const res of both) assert.equal(res.headers.get("x-vercel-ai-ui-message-stream"), "v1");
    const bodies = await Promise.all(both.map((res) => res.text()));
    for (const body of bodies) assert.match(body, /data: \[DONE\]\n\n$/);
    assert.equal((await saved("repeated")).length, 2);
    assert.match(await (await post()).text(), /Hello/);
    assert.equal((await saved("repeated")).length, 2);
  },
  async approve() {
    for (const approved of [true, false]) {
      const id = `approve-${approved}`;
      const c = newChat(id, { automatic: true });
      await c.chat.sendMessage({ text: `send ${id}` });
      const asked = part(c, "tool-send");
      assert.equal(asked.state, "approval-requested");
      assert.deepEqual(asked.approval.descriptor.arguments, { to: "ann" });
      assert.deepEqual(shown(await saved(id)), shown(c.chat.messages));
      await c.chat.addToolApprovalResponse({ id: asked.approval.id, approved });
      await until("the end", () => c.chat.status === "ready" && text(last(c)).includes("Sent."));
      assert.equal(c.chat.messages.length, 2);
      assert.equal(text(last(c)), "I send.|Sent.");
      assert.equal(part(c, "tool-send").state, approved ? "output-available" : "output-denied");
      await same(c, id);
      const again = await fetch(`${server}/api/chat`, {
        method: "POST", body: JSON.stringify({ id, trigger: "submit-message", messages: [{ ...last(c), parts: [{ ...asked, state: "approval-responded", approval: { id: asked.approval.id + "0", approved } }] }] }),
      });
      assert.equal(again.status, 200, "an answer that comes late only shows what follows");
      assert.ok(!(await again.text()).includes("I send."));
    }
  },
  async outdated() {
    const c = newChat("outdated");
    await c.chat.sendMessage({ text: "send outdated" });
    const asked = part(c, "tool-send");
    await c.chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    last(c).parts.find((p) => p.type === "tool-send").approval.id = asked.toolCallId + "#sha256:old";
    const res = await fetch(`${server}/api/chat`, { method: "POST", body: JSON.stringify({ id: "outdated", trigger: "submit-message", messages: c.chat.messages }) });
    assert.equal(res.status, 409);
    assert.equal((await res.json()).reason, "changed");
  },
  async nested() {
    const c = newChat("nested", { automatic: true });
    await c.chat.sendMessage({ text: "nest x" });
    const asked = part(c, "dynamic-tool");
    assert.equal(asked.state, "approval-requested", JSON.stringify(last(c)));
    assert.deepEqual(asked.approval.descriptor.agentPath, ["mailer"]);
    assert.equal(part(c, "data-subagent").data.status, "running");
    assert.deepEqual(shown(await saved("nested")), shown(c.chat.messages));
    await c.chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await until("the end", () => c.chat.status === "ready" && text(last(c)).includes("Mailed."));
    assert.equal(part(c, "dynamic-tool").state, "output-available");
    assert.equal(part(c, "data-subagent").data.status, "completed");
    assert.ok(c.events.some((e) => e.type === "data-subagent-delta"));
    await same(c, "nested");
  },
  async regenerate() {
    const c = newChat("regenerate");
    await c.chat.sendMessage({ text: "text" });
    const first = last(c).id;
    await c.chat.regenerate();
    assert.equal(c.chat.messages.length, 2);
    assert.notEqual(last(c).id, first);
    assert.equal(text(last(c)), "Hello to you.");
    await same(c, "regenerate");
    await c.chat.sendMessage({ text: "tools r", messageId: c.chat.messages[0].id });
    assert.equal(c.chat.messages.length, 2);
    assert.equal(text(last(c)), "I look.|Found it.");
    await same(c, "regenerate");
  },
  async stop() {
    const c = newChat("stop");
    const sent = c.chat.sendMessage({ text: "slow stop" });
    await until("text", () => c.chat.messages.length === 2 && text(last(c)) !== "");
    const res = await fetch(`${server}/api/chat/stop/stop`, { method: "POST" });
    assert.equal(res.status, 200);
    await sent;
    assert.equal(c.chat.status, "ready");
    if (version === "7") await same(c, "stop"); // what was not saved is gone
  },
  async resumed() {
    const gone = await fetch(`${server}/api/chat/nothing/stream`);
    assert.equal(gone.status, 204);
    const c = newChat("resumed", { strict: true });
    const sent = c.chat.sendMessage({ text: "slow resumed" });
    await until("text", () => c.chat.messages.length === 2 && text(last(c)) === "One two");
    const other = newChat("resumed", { messages: await saved("resumed"), strict: true });
    const following = other.chat.resumeStream();
    await until("text", () => other.chat.messages.length === 2 && text(last(other)) === "One two");
    await open("resumed");
    await Promise.all([sent, following]);
    assert.deepEqual(shown(other.chat.messages), shown(c.chat.messages));
    await same(c, "resumed");
    await other.chat.resumeStream();
    assert.equal(other.status, 204);
  },
  async cuts() {
    for (const [name, script] of [["text", "text"], ["tools", "tools"], ["send", "send"], ["nest", "nest"]]) {
      for (let n = 1; ; n++) {
        const id = `cuts-${name}-${n}`;
        const c = newChat(id);
        c.cut = n;
        await c.chat.sendMessage({ text: `${script} ${id}` });
        const whole = c.chat.status === "ready";
        if (!whole) {
          assert.ok(c.ends.at(-1).isDisconnect, String(c.errors));
          await c.chat.resumeStream();
        }
        await until("the end", async () => c.chat.status === "ready");
        await same(c, id);
        if (whole) break;
        assert.ok(n < 200);
      }
    }
  },
  async redone() {
    const c = newChat("redone");
    const sent = c.chat.sendMessage({ text: "cut redone" });
    await open("redone");
    await sent;
    if (version === "6" && c.chat.status === "error") await c.chat.resumeStream();
    await until("the end", () => c.chat.status === "ready");
    assert.equal(text(last(c)), "Good day.");
    await same(c, "redone");
    const d = newChat("same");
    await d.chat.sendMessage({ text: "same same" });
    assert.equal(d.chat.status, "ready", String(d.errors));
    assert.equal(text(last(d)), "Hello world.");
    await same(d, "same");
  },
  async failed() {
    const c = newChat("failed");
    await c.chat.sendMessage({ text: "fail" });
    assert.equal(c.chat.status, "error");
  },
  async steered() {
    const c = newChat("steered");
    const sent = c.chat.sendMessage({ text: "steer steered" });
    await until("text", () => c.chat.messages.length === 2 && text(last(c)) === "Right.");
    const steer = newChat("steered", { body: { whenBusy: "steer" }, messages: c.chat.messages.slice(0, 1) });
    const second = steer.chat.sendMessage({ text: "left" });
    await until("the steer to be taken", () => steer.status === 200);
    await open("steered");
    await Promise.all([sent, second]);
    assert.equal(text(last(c)), "Right.|Left.");
    const said = last(c).parts.find((p) => p.type === (version === "7" ? "steering-message" : "data-steering-message"));
    assert.equal((said.parts ?? said.data.parts)[0].text, "left");
    assert.deepEqual(shown(steer.chat.messages.slice(-1)), shown(c.chat.messages.slice(-1)));
    await same(c, "steered");
  },
};

await play(stories);

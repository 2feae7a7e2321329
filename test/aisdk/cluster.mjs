// Two processes over one PostgreSQL, with the demo model: what begins at one goes on at the other, in both directions. It fails with
// what is wrong.
import assert from "node:assert/strict";
import { control as other, last, newChat, part, play, saved, server, shown, text, until } from "./client.mjs";

const both = [[server, other], [other, server]];

/** Both processes have saved what the chats show. */
async function same(id, ...chats) {
  for (const at of [server, other])
    for (const c of chats) {
      const equal = async () => JSON.stringify(shown(await saved(id, at))) === JSON.stringify(shown(c.chat.messages));
      await until(`what ${at} has saved of ${id}`, equal).catch(async () => assert.deepEqual(shown(c.chat.messages), shown(await saved(id, at))));
    }
}

/** What the model has thought so far: its slow answer begins with it. */
const thought = (c) => (last(c)?.role === "assistant" && part(c, "reasoning")?.text) || "";

/** A story with each of the two as the first one, at the same time. */
const eitherWay = (story) => () => Promise.all(both.map(([first, second], i) => story(first, second, i)));

/** A second client comes while the model counts. It returns false if the answer was over before. */
async function resumed(id, first, second, words) {
  const a = newChat(id, { server: first });
  const sent = a.chat.sendMessage({ text: `slow ${words}` });
  await until("the first words", () => thought(a).startsWith("I was asked"));
  const messages = await saved(id, second);
  const b = newChat(id, { server: second, strict: true, messages });
  const follows = b.chat.resumeStream();
  await until("the same words", () => thought(b).startsWith("I was asked") || a.chat.status === "ready");
  const inTime = messages.length === 1 && b.chat.status === "streaming";
  await Promise.all([sent, follows]);
  if (!inTime) return false;
  const counted = " " + Array.from({ length: words }, (_, i) => i + 1).join(" ");
  for (const c of [a, b]) assert.equal(text(last(c)).slice(-counted.length), counted);
  await same(id, a, b);
  return true;
}

const stories = {
  // On a busy machine a short answer is over before the second client comes, and a longer one is not.
  resume: eitherWay(async (first, second, i) => {
    for (const words of [2, 20, 100]) if (await resumed(`resume-${i}-${words}`, first, second, words)) return;
    assert.fail("each answer was over before the second client came");
  }),
  stop: eitherWay(async (first, second, i) => {
    const id = `stop-${i}`;
    const a = newChat(id, { server: first });
    const sent = a.chat.sendMessage({ text: "slow 500" });
    await until("the first words", () => thought(a) !== "");
    const res = await fetch(`${second}/api/chat/${id}/stop`, { method: "POST", headers: { "content-type": "application/json" } });
    assert.deepEqual([res.status, await res.json()], [200, { accepted: true }]);
    await sent;
    assert.equal(a.chat.status, "ready");
    assert.equal(a.ends.length, 1);
    assert.equal((await fetch(`${second}/api/chat/${id}/stream`)).status, 204);
  }),
  approve: eitherWay((first, second, i) =>
    Promise.all([true, false].map(async (approved) => {
      const id = `approve-${i}-${approved}`;
      const a = newChat(id, { server: first });
      await a.chat.sendMessage({ text: 'use send_email with {"to":"ann"}' });
      assert.equal(part(a, "tool-send_email").state, "approval-requested");
      const b = newChat(id, { server: second, automatic: true, messages: await saved(id, second) });
      await b.chat.addToolApprovalResponse({ id: part(b, "tool-send_email").approval.id, approved });
      await until("the end", () => b.posts === 1 && b.chat.status === "ready");
      assert.equal(part(b, "tool-send_email").state, approved ? "output-available" : "output-denied");
      await a.chat.resumeStream(); // with replay=last
      await same(id, a, b);
    })),
  ),
};

await play(stories, true);

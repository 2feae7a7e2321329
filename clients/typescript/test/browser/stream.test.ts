// An answer arrives once and whole, whatever happens to the page, the network, the server and the model.
import { expect, test } from "vitest";
import { until } from "./gate.js";
import { play, Tape } from "./tape.js";
import { World } from "./world.js";

/** Expects that what was drawn of an answer is its beginning at any time, and in no frame anything twice. */
function onlyGrows(said: readonly string[], whole: string): void {
  expect(said.at(-1)).toBe(whole);
  expect(said.filter((text) => !whole.startsWith(text))).toEqual([]);
}

test("the first token is on the screen while the model speaks, and renders its message alone", async () => {
  const world = await World.start("first");
  const tape = new Tape();
  world.model.script = play({ long: [tape] });
  const tab = await world.open();
  await tab.send("hello");
  await tab.shows("You said: hello.");
  await tab.send("long");
  await tab.phase("thinking");
  tape.think("Let me see. ");
  await tab.page.waitForSelector(".reasoning");
  await tab.picture("thinking");
  tape.say("One");
  await tab.shows("One");
  await tab.phase("responding");
  await tab.picture("responding");
  const before = await tab.renders();
  for (const word of [" two", " three", " four"]) {
    tape.say(word);
    await tab.shows(word);
  }
  const after = await tab.renders();
  const rendered = Object.keys(after).filter((id) => after[id] !== before[id]);
  expect(rendered).toHaveLength(1);
  await tab.isTrue();
  tape.end();
  await tab.phase("completed");
  await tab.isTrue();
  expect((await tab.texts()).at(-1)).toBe("One two three four");
  await tab.picture("completed");
});

test("a reload in the middle of an answer loses nothing", async () => {
  const world = await World.start("reload");
  const tape = new Tape().say("Once upon");
  world.model.script = play({ story: [tape] });
  const tab = await world.open();
  await tab.send("story");
  await tab.shows("Once upon");
  expect(new URL(tab.page.url()).searchParams.get("threadId")).toBe(await tab.thread());
  await tab.page.reload();
  await tab.shows("Once upon");
  tape.say(" a time");
  await tab.shows("Once upon a time");
  await tab.picture("reloaded");
  await tab.isTrue();
  await tab.page.reload();
  tape.say(", there was").end();
  await tab.shows("Once upon a time, there was");
  await tab.phase("completed");
  await tab.isTrue();
});

test("the network goes three times in one answer, while another client acts", async () => {
  const world = await World.start("offline");
  const other = world.other();
  const first = new Tape().say("One");
  const second = new Tape();
  const third = new Tape();
  world.model.script = play({ long: [first, second], more: [third] });
  const tab = await world.open();
  await tab.send("long");
  await tab.shows("One");
  const threadId = await tab.thread();

  await tab.offline("cut");
  await until("the page knows that it is cut off", async () => (await tab.state()).connection !== "open");
  await tab.picture("offline");
  first.say(" two");
  await other.run({ threadId, prompt: "more", whenBusy: "enqueue" });
  await tab.online();
  await tab.shows("One two");
  await tab.page.waitForSelector(".queued");
  await tab.isTrue();
  await tab.picture("queued");

  await tab.offline("lost");
  first.call("c1", "send_email", { to: "ann@example.com" }).end();
  await until("the call waits", async () => (await other.history(threadId)).thread.state === "WAITING_FOR_INPUT");
  expect(await other.respond(threadId, { toolCallId: "c1", approved: true })).toMatchObject({ delivered: true });
  second.say("Sent,");
  await until("the answer goes on", async () => world.model.effects.length === 1);
  await tab.online();
  await tab.shows("Sent,");
  await tab.isTrue();
  await tab.picture("answered elsewhere");

  await tab.offline("cut");
  second.say(" and done").end();
  third.say("More").end();
  await until("both runs are over", async () => (await other.history(threadId)).thread.state === "COMPLETED");
  const messages = (await other.history(threadId)).messages;
  const turn = messages.findLast(({ role }) => role === "user");
  await other.run({ threadId, prompt: "more, edited", editMessageId: turn?.id ?? "" });
  await tab.online();
  await tab.shows("You said: more, edited.");
  await tab.phase("completed");
  await tab.isTrue();
  await tab.picture("back");
  expect(await tab.texts()).toEqual(["long", "One two", "Sent, and done", "more, edited", "You said: more, edited."]);
});

test("a run ends without an entry while the page is away", async () => {
  const world = await World.start("untold", { limits: "retry_backoff: 10m" });
  const other = world.other();
  const echo = world.model.script;
  world.model.script = async (asked, answer) => (asked.prompt === "fail" ? answer.cut() : echo(asked, answer));
  const tab = await world.open();
  await tab.send("fail");
  const threadId = await tab.thread();
  await until("the next attempt waits", async () => (await tab.state()).view.retry !== null);
  await tab.isTrue();
  await tab.offline("cut");
  expect(await other.stop(threadId)).toMatchObject({ accepted: true });
  await other.run({ threadId, prompt: "more" });
  await until("the next run is over", async () => (await other.history(threadId)).thread.state === "COMPLETED");
  await tab.online();
  await tab.shows("You said: more.");
  await tab.isTrue();
  expect((await tab.state()).view.runs.map(({ state }) => state)).toEqual(["COMPLETED", "CANCELLED"]);
  await tab.picture("back");
});

test("the server is killed and starts again in the middle of an answer", async () => {
  const world = await World.start("killed");
  const tape = new Tape().say("Before");
  world.model.script = play({ long: [tape] });
  const tab = await world.open();
  await tab.send("hello");
  await tab.shows("You said: hello.");
  await tab.send("long");
  await tab.shows("Before");
  const said = await tab.watch();
  await world.server.kill();
  await until("the page knows it", async () => (await tab.state()).connection === "reconnecting");
  await tab.picture("down");
  await world.server.start();
  tape.say(" and after").end();
  await tab.shows("Before and after");
  await tab.phase("completed");
  await tab.isTrue();
  expect(await tab.texts()).toEqual(["hello", "You said: hello.", "long", "Before and after"]);
  onlyGrows(await said(), "Before and after");
  await tab.picture("up again");
});

test("a model's stream that is cut is tried again, and no text is doubled", async () => {
  const world = await World.start("cut");
  const tape = new Tape().say("A half");
  world.model.script = play({ long: [tape] });
  const tab = await world.open();
  const said = await tab.watch();
  await tab.send("long");
  await tab.shows("A half");
  tape.cut();
  await until("the model is asked again", async () => world.model.asked.length === 2);
  await tab.shows("A half");
  await tab.isTrue();
  await tab.picture("tried again");
  tape.say(" and a whole").end();
  await tab.phase("completed");
  await tab.isTrue();
  expect(await tab.texts()).toEqual(["long", "A half and a whole"]);
  onlyGrows(await said(), "A half and a whole");
});

test("a stop in the middle of an answer keeps what the page shows true", async () => {
  const world = await World.start("stop");
  const tape = new Tape().say("It goes on and on");
  world.model.script = play({ long: [tape] });
  const tab = await world.open();
  await tab.send("long");
  await tab.shows("on and on");
  await tab.click("text=Stop");
  await tab.phase("stopped");
  await tab.isTrue();
  await tab.picture("stopped");
});

// Questions, edits and several pages: what one of them does, the others see.
import { expect, test } from "vitest";
import { until } from "./gate.js";
import { play, Tape } from "./tape.js";
import { World } from "./world.js";

const email = { to: "ann@example.com" };

test("two tabs show the same, and an answer in one is seen in the other", async () => {
  const world = await World.start("tabs");
  const tape = new Tape().say("I write to Ann.").call("c1", "send_email", email);
  world.model.script = play({ write: [tape] });
  const one = await world.open();
  await one.send("write");
  const two = await world.open(`?threadId=${await one.thread()}`, one);
  await two.shows("I write to Ann.");
  tape.end();
  await Promise.all([one, two].map((tab) => tab.page.waitForSelector(".park")));
  await Promise.all([one.isTrue(), two.isTrue()]);
  await one.page.bringToFront();
  await one.picture("waiting");
  await one.click("text=Approve");
  await Promise.all([one, two].map((tab) => tab.page.waitForSelector(".park", { state: "detached" })));
  await Promise.all([one.phase("completed"), two.phase("completed")]);
  await two.page.waitForSelector('.call[data-call="c1"][data-state="done"]');
  await Promise.all([one.isTrue(), two.isTrue()]);
  expect(world.model.effects).toHaveLength(1);
  await two.page.bringToFront();
  await two.picture("approved elsewhere");
});

test("tabs that share a connection show the same", async () => {
  const world = await World.start("shared");
  const tape = new Tape().say("One");
  world.model.script = play({ long: [tape] });
  const one = await world.open("?share");
  await one.send("long");
  const two = await world.open(`?share&threadId=${await one.thread()}`, one);
  await Promise.all([one.shows("One"), two.shows("One")]);
  await one.page.close();
  tape.say(" two").end();
  await two.shows("One two");
  await two.phase("completed");
  await two.isTrue();
  await two.picture("the other tab is gone");
});

test("a call that is denied is shown so", async () => {
  const world = await World.start("denied");
  world.model.script = play({ write: [new Tape().call("c1", "send_email", email).end()] });
  const tab = await world.open();
  await tab.send("write");
  await tab.click("text=Deny");
  await tab.page.waitForSelector('.call[data-state="denied"]');
  await tab.phase("completed");
  await tab.isTrue();
  await tab.picture("denied");
  expect(world.model.effects).toEqual([]);
});

test("a turn is edited, and the thread goes on from there", async () => {
  const world = await World.start("edit");
  const tab = await world.open();
  await tab.send("first");
  await tab.shows("You said: first.");
  const two = await world.open(`?threadId=${await tab.thread()}`, tab);
  await tab.page.bringToFront();
  await tab.send("second");
  await tab.shows("You said: second.");
  await tab.phase("completed");
  await tab.page.bringToFront();
  await tab.click('article:has-text("first") >> text=Edit');
  await tab.shows("You said: first, edited.");
  await Promise.all([tab.phase("completed"), two.phase("completed")]);
  await Promise.all([tab.isTrue(), two.isTrue()]);
  expect(await two.texts()).toEqual(["first, edited", "You said: first, edited."]);
  await tab.picture("edited");
});

test("a nested run asks, and its answer reaches it", async () => {
  const world = await World.start("nested");
  const order = { name: "mailer", instructions: "mail ann" };
  const nested = new Tape().say("I write.").call("n1", "send_email", email).end();
  world.model.script = play({
    ask: [
      new Tape().say("The mailer does it.").call("s1", "spawnSubagent", order).end(),
      new Tape().say("All done.").end(),
    ],
    "mail ann": [nested, new Tape().say("Mail sent.").end()],
  });
  const tab = await world.open();
  await tab.send("ask");
  await tab.page.waitForSelector('.park[data-park^="n1"]');
  await tab.isTrue();
  expect(await tab.page.textContent('.call[data-call="s1"] article .text')).toBe("I write.");
  await tab.picture("nested question");
  await tab.page.reload();
  await tab.page.waitForSelector('.park[data-park^="n1"]');
  await tab.isTrue();
  await tab.click("text=Approve");
  await tab.phase("completed");
  await tab.shows("All done.");
  await tab.isTrue();
  expect(world.model.effects).toMatchObject([{ tool: "send_email" }]);
  await tab.picture("nested done");
});

test("nested runs end in each way, before the eyes of a page", async () => {
  const world = await World.start("nested-ends", { limits: "run_max_attempts: 1" });
  const spawn = (id: string, instructions: string) => [id, "spawnSubagent", { name: "mailer", instructions }] as const;
  const soFar = new Tape().say("So far.");
  const plays = play({
    ask: [
      new Tape()
        .call(...spawn("s1", "works"))
        .call(...spawn("s2", "fails"))
        .call(...spawn("s3", "works"))
        .end(),
      soFar,
    ],
    works: [new Tape().say("It works.").end()],
    hangs: [new Tape().say("Without end")],
  });
  world.model.script = async (asked, answer) => (asked.prompt === "fails" ? answer.cut() : plays(asked, answer));
  const tab = await world.open();
  const ends = async () =>
    (await tab.state()).view.runs
      .filter(({ depth }) => depth > 0)
      .map(({ state, error }) => [state, error !== undefined]);
  await tab.send("ask");
  await tab.shows("So far.");
  await tab.isTrue(); // the page has followed since the run began
  // The newest first: in the reverse order of the calls, though all of them began at once.
  expect(await ends()).toEqual([
    ["COMPLETED", false],
    ["FAILED", true],
    ["COMPLETED", false],
  ]);
  soFar.call(...spawn("s4", "hangs")).end();
  await tab.page.waitForSelector('.call[data-call="s4"] article:has-text("Without end")');
  await tab.click("text=Stop");
  await tab.phase("stopped");
  await tab.isTrue();
  expect(await ends()).toContainEqual(["CANCELLED", false]);
  await tab.picture("nested ends");
});

test("a call whose outcome is unknown asks a person", async () => {
  const world = await World.start("unknown");
  world.model.script = play({ pay: [new Tape().call("p1", "pay", { amount: 7 }).end()] });
  world.model.tools.set("pay", () => new Promise(() => undefined));
  const tab = await world.open();
  await tab.send("pay");
  await until("the payment is on its way", async () => world.model.effects.length === 1);
  await world.server.kill();
  await world.server.start();
  world.model.tools.set("pay", () => "paid");
  await tab.page.waitForSelector('.park[data-reason="outcome_unknown"]');
  await tab.isTrue();
  await tab.picture("outcome unknown");
  await tab.click("text=Deny");
  await tab.phase("completed");
  await tab.isTrue();
  await tab.picture("not again");
  expect(world.model.effects).toHaveLength(1);
});

test("a budget that is used up asks for more", async () => {
  const world = await World.start("budget", { config: "budget: {tokens: 20000, on_exhausted: park}" });
  world.model.script = play({ long: [new Tape().call("c1", "look", {}).end(), new Tape().say("Enough.").end()] });
  await world.other().run({ threadId: "t", prompt: "long", tokenBudget: 40 });
  const tab = await world.open("?threadId=t");
  await tab.page.waitForSelector('.park[data-reason="budget_reached"]');
  await tab.isTrue();
  await tab.picture("budget");
  await tab.click("text=Approve");
  await tab.shows("Enough.");
  await tab.phase("completed");
  await tab.isTrue();
  await tab.picture("raised");
});

test("a refused turn is taken back, with its reason", async () => {
  const world = await World.start("refused");
  const tape = new Tape().say("One");
  world.model.script = play({ long: [tape] });
  const tab = await world.open();
  await tab.send("long");
  await tab.shows("One");
  await tab.send("too early");
  await tab.page.waitForSelector(".error");
  expect(await tab.page.inputValue("textarea")).toBe("too early");
  await tab.shows("One");
  await tab.isTrue();
  expect(await tab.texts()).toEqual(["long", "One"]);
  await tab.picture("refused");
  tape.end();
  await tab.phase("completed");
  await tab.isTrue();
});

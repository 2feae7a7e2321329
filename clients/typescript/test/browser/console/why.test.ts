// One sentence says why a run waits, or why it ended as it did: each reason that a server can give.
import { expect, test } from "vitest";
import type { Script } from "../model.js";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";
import { startShop } from "./shop.js";

test("a failed attempt, and early ends", async () => {
  const world = await World.start("console-why", {
    limits: "retry_backoff: 8s, run_max_attempts: 2",
    config: `budget: {tokens: 20000}`,
    agent: "max_steps: 3",
  });
  const twice = new Tape().call("c1", "look", {}).end();
  const scripts: Record<string, Script> = {
    "fails once": async ({ attempt }, answer) => (attempt === 1 ? answer.cut() : answer.text("Second time.")),
    "fails always": async (_, answer) => answer.cut(),
    "says nothing": async () => undefined,
    "does not end": play({ "does not end": [twice, twice, twice, twice] }),
  };
  world.model.script = async (asked, answer) =>
    (scripts[asked.prompt] ?? ((asked, answer) => answer.text(asked.prompt)))(asked, answer);
  const desk = await Desk.open(world);
  await desk.send("fails once");
  await desk.says(/^The last attempt failed: .+\. The next one begins in \d/);
  await desk.look("retry");
  await desk.page.getByText("Second time.").waitFor();
  await desk.page.locator(".why").waitFor({ state: "detached" });
  await desk.send("says nothing");
  await desk.says(/^Ended early: the model gave an empty answer\.$/);
  await desk.send("does not end");
  await desk.says(/^Ended early: it took as many steps as it may\.$/);
  await desk.look("early");
  await desk.send("fails always");
  await desk.says(/^Failed: .+/);
  await desk.look("failed");
  const { runs } = await world.other().history((await world.other().threads()).threads[0]?.id ?? "");
  expect(runs.map((run) => run.state)).toContain("FAILED");
  desk.untroubled();
});

test("work elsewhere, and a limit of the provider", async () => {
  const shop = await startShop("--audit", "10s");
  const world = await World.start("console-elsewhere", {
    agent: "mcp: {shop: {}}",
    config: `mcp: {shop: {url: "${shop}"}}`,
    model: "limits: {rpm: 2}",
  });
  world.model.script = play({
    audit: [new Tape().call("c1", "shop__audit", { year: 2025 }).end(), new Tape().say("In order.").end()],
  });
  const desk = await Desk.open(world);
  await desk.send("audit");
  await desk.says(/^Waits for the work of shop__audit elsewhere( \(.+\))?; gives up in \d/);
  await desk.look("elsewhere");
  await desk.page.getByText("In order.", { exact: true }).waitFor();
  await desk.send("one more");
  await desk.says(/^Waits for a limit of the model's provider: /);
  await desk.look("provider-limit");
  desk.untroubled();
});

test("lists and marks ask a person only where one can help", async () => {
  const shop = await startShop("--audit", "10m");
  const world = await World.start("console-marks", {
    limits: "retry_backoff: 10m",
    agent: "mcp: {shop: {}}",
    config: `mcp: {shop: {url: "${shop}"}}`,
  });
  const scripts: Record<string, Script> = {
    mail: play({ mail: [new Tape().call("c1", "send_email", { to: "ann" }).end()] }),
    audit: play({ audit: [new Tape().call("c2", "shop__audit", { year: 2025 }).end()] }),
    fail: async (_, answer) => answer.cut(),
  };
  world.model.script = async (asked, answer) => scripts[asked.prompt]?.(asked, answer);
  const waits = [
    ["mail", "needs you", "true"],
    ["audit", "waits for shop__audit's work", "false"],
    ["fail", /^waits for the retry at [\d:]+$/, "false"],
  ] as const;
  for (const [prompt] of waits) {
    await world.other().run({ threadId: prompt, runId: `run-${prompt}`, prompt });
  }
  const desk = await Desk.open(world, "#/threads/audit");
  const isMarked = async (within: string, mark: string | RegExp, asks: string) => {
    const state = desk.page.locator(`${within} .state[data-asks=${asks}]`);
    await state.getByText(mark, { exact: true }).waitFor();
  };
  for (const [prompt, mark, asks] of waits) {
    await isMarked(`.thread-list a[href$="/${prompt}"]`, mark, asks);
  }
  await isMarked(".thread-head", "waits for shop__audit's work", "false");
  await isMarked(".run-line", "waits for shop__audit's work", "false");
  await desk.page.locator(".call-state").getByText("works elsewhere").waitFor();
  await desk.page.getByText("Waiting for work elsewhere: shop__audit").waitFor();
  await desk.page.locator('.why[data-asks="false"]').getByText("Waits for the work of shop__audit").waitFor();
  await desk.look("marks");
  await desk.go("#/threads/audit/record");
  await isMarked(".past .thread-head", "waits for shop__audit's work", "false");
  await desk.go("#/");
  await desk.go("#/operations/runs");
  for (const [prompt, mark, asks] of waits) {
    await isMarked(`tr:has(a[href$="run-${prompt}"])`, mark, asks);
  }
  await desk.go("#/operations/runs/run-fail");
  await isMarked(".ops-head", /^waits for the retry at/, "false");

  await desk.go("#/threads/mail"); // an answer ends the wait
  await isMarked(".thread-head", "needs you", "true");
  scripts.mail = async (_, answer) => answer.text("Sent.");
  await desk.button("Approve").click();
  await isMarked('.thread-list a[href$="/mail"]', "done", "false");
  desk.untroubled();
});

test("no worker", async () => {
  const world = await World.start("console-queued", { limits: "concurrency: 1" });
  world.model.script = play({ long: [new Tape().say("Without end")] });
  for (const n of [1, 2, 3, 4]) {
    await world.other().run({ threadId: `busy${n}`, prompt: "long" });
  }
  const desk = await Desk.open(world);
  await desk.send("late");
  await desk.says(/^Waits for a worker since \d/);
  await desk.look("queued-alone");
  desk.untroubled();
});

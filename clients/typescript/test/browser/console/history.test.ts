// The history of a thread that goes on while somebody looks back.
import { expect, test } from "vitest";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";

test("a thread goes on while its history is open", async () => {
  const world = await World.start("console-goes-on");
  const steps = [1, 2, 3, 4].map((n) => new Tape().say(`Step ${n}. `).call(`c${n}`, "look", {}));
  const [first, second, third, fourth] = steps as [Tape, Tape, Tape, Tape];
  const last = new Tape().say("That is all.");
  world.model.script = play({ begin: [...steps, last] });
  await world.other().run({ threadId: "t", runId: "r", prompt: "begin" });
  first.end();
  const desk = await Desk.open(world, "#/threads/t/record");
  const past = desk.page.locator(".past .messages");
  const slider = desk.page.getByRole("slider", { name: "Version of the thread" });
  const newer = desk.page.getByRole("button", { name: /^\d+ newer versions? · Show$/ });
  const tag = desk.page.locator(".past .thread-head").getByText("past", { exact: true });
  const at = async () => Number(await slider.inputValue());

  // At the end, the slider goes on with the thread.
  await past.getByText("Step 1.").waitFor();
  second.end();
  await past.getByText("Step 2.").waitFor();
  expect(await newer.count()).toBe(0);
  await tag.waitFor({ state: "detached" });

  // Somewhere else it stays, and says that there is more.
  await past.getByText("begin").waitFor();
  await slider.press("ArrowLeft");
  await slider.press("ArrowLeft");
  await slider.press("ArrowLeft");
  await tag.waitFor();
  const here = await at();
  const shown = await past.innerText();
  const until = await slider.getAttribute("max");
  third.end();
  await newer.waitFor();
  expect([await at(), await slider.getAttribute("max"), await past.innerText()]).toEqual([here, until, shown]);
  await desk.look("history-newer");
  await newer.click();
  await past.getByText("Step 3.").waitFor();
  expect(await at()).toBeGreaterThan(Number(until));
  expect(await newer.count()).toBe(0);
  await tag.waitFor({ state: "detached" });
  fourth.end();
  await past.getByText("Step 4.").waitFor(); // it follows again

  // An address names a version, which stays also if it was the last one.
  const end = await at();
  await desk.go("#/");
  await desk.go(`#/threads/t/record/${end}`);
  await past.getByText("Step 4.").waitFor();
  last.end();
  await newer.waitFor();
  await tag.waitFor(); // the newest version of the slider, and not of the thread
  expect(await at()).toBe(end);
  await slider.press("End"); // the slider is there already
  await past.getByText("That is all.").waitFor();
  await desk.page.locator(".thread-head .state[data-state=COMPLETED]").waitFor();
  desk.untroubled();
});

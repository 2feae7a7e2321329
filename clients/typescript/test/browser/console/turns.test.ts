// Turns: edited, steered, queued, interrupted, stopped.
import { expect, test } from "vitest";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";

test("a turn is edited, and its versions can be switched", async () => {
  const world = await World.start("console-edit");
  const desk = await Desk.open(world);
  await desk.send("first");
  await desk.page.getByText("You said: first.").waitFor();
  await desk.button("Send").waitFor();
  await desk.button("Edit").click();
  await desk.page.getByLabel("New text of the turn").fill("second");
  await desk.look("edit");
  await desk.button("Send the edited turn").click();
  await desk.page.getByText("You said: second.").waitFor();
  expect(await desk.page.getByText("You said: first.").count()).toBe(0);
  await desk.page.getByText("2/2").waitFor();
  await desk.look("versions");
  await desk.page.getByRole("button", { name: /earlier version|previous version|older/i }).click();
  await desk.page.getByText("You said: first.").waitFor();
  await desk.page.getByText("1/2").waitFor();
  await desk.button("Restore").click();
  await desk.page.getByText("You said: second.").waitFor();
  desk.untroubled();
});

test("a run at work is steered, has a successor, and is stopped", async () => {
  const world = await World.start("console-steer");
  const first = new Tape().say("I begin.");
  const look = new Tape().call("c1", "look", {});
  const long = new Tape().say("Without end");
  world.model.script = play({ begin: [look, first], "and hurry": [first], more: [long] });
  const desk = await Desk.open(world);
  await desk.send("begin");
  await desk.page.getByText("being written").waitFor();
  await desk.send("and hurry");
  await desk.page.getByText("and hurry").first().waitFor();
  await desk.look("steered");
  look.end();
  await desk.page.getByText("I begin.").waitFor();
  await desk.page.getByRole("radio", { name: "Queue" }).click();
  await desk.send("more");
  await desk.send("never");
  await desk.page.getByText(/queued, 2\./).waitFor();
  await desk.look("queued");
  await desk.page.locator(".turn", { hasText: "never" }).getByRole("button", { name: "Cancel" }).click();
  await desk.page.locator(".turn", { hasText: "never" }).waitFor({ state: "detached" });
  first.end();
  await desk.page.getByText("Without end").waitFor();
  await desk.button("Stop").click();
  await desk.page.locator('.thread-head .state[data-state="CANCELLED"]').waitFor();
  expect(await desk.page.locator(".why").count()).toBe(0);
  await desk.send("hello");
  await desk.page.getByText("You said: hello.").waitFor();
  desk.untroubled();
});

test("a run that was steered ends as every other", async () => {
  const world = await World.start("console-steered");
  const look = new Tape().call("c1", "look", {});
  world.model.script = play({ begin: [look] });
  const desk = await Desk.open(world);
  await desk.send("begin");
  await desk.page.getByText("being written").waitFor();
  await desk.send("and hurry");
  await desk.page.getByText(/queued/).waitFor();
  look.end();
  await desk.page.getByText("You said: and hurry.").waitFor();
  await desk.button("Send").waitFor();
  expect(await desk.page.locator(".why").count()).toBe(0);
  await desk.page.reload();
  await desk.page.getByText("You said: and hurry.").waitFor();
  expect(await desk.page.locator(".why").count()).toBe(0);
  expect(await desk.page.locator(".turn").count()).toBe(2);
  desk.untroubled();
});

test("a run at work is interrupted", async () => {
  const world = await World.start("console-interrupt");
  world.model.script = play({ long: [new Tape().say("Without end")] });
  const desk = await Desk.open(world);
  await desk.send("long");
  await desk.page.getByText("Without end").waitFor();
  await desk.page.getByRole("radio", { name: "Interrupt" }).click();
  await desk.send("hello");
  await desk.page.getByText("You said: hello.").waitFor();
  await desk.button("Send").waitFor();
  desk.untroubled();
});

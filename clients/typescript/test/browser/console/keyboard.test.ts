// Without a mouse: a thread is opened, a call approved, a message sent, and the inbox answered.
import { expect, test } from "vitest";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";

test("the keyboard is enough", async () => {
  const world = await World.start("console-keys");
  const call = () => [new Tape().call("c1", "send_email", { to: "ann" }).end(), new Tape().say("Sent.").end()];
  world.model.script = play(Object.fromEntries(["one", "two", "three", "four"].map((name) => [name, call()])));
  for (const name of ["one", "two", "three", "four"]) {
    await world.other().run({ threadId: name, prompt: name });
  }
  const desk = await Desk.open(world, "#/inbox");
  const { page } = desk;
  await page.locator(".inbox-row").nth(3).waitFor();
  await page.keyboard.press("t");
  await page.getByRole("link", { name: /one/ }).waitFor();

  /** Presses Tab until the focus is on something. */
  const tabTo = async (what: RegExp) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const on = document.activeElement as HTMLElement | null;
        const box = on?.getBoundingClientRect();
        return {
          name: on?.getAttribute("aria-label") ?? on?.innerText ?? "",
          seen: box !== undefined && box.width > 0 && getComputedStyle(on as Element).outlineStyle !== "none",
        };
      });
      if (what.test(at.name)) {
        expect(at.seen).toBe(true); // the focus can be seen
        return;
      }
    }
    throw new Error(`Tab does not reach ${what}`);
  };
  await tabTo(/^one/);
  await page.keyboard.press("Enter");
  await desk.heading("Allow send_email?").waitFor();
  await tabTo(/^Approve$/);
  await page.keyboard.press("Enter");
  await page.getByText("Sent.").waitFor();
  await page.keyboard.press("m");
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await page.getByText("You said: hello.").waitFor();
  await page.keyboard.press("Escape"); // leaves the field

  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await desk.look("keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("i");
  await page.locator(".inbox-row").nth(2).waitFor();
  await page.locator(".inbox-row").nth(3).waitFor({ state: "detached" }); // the list no longer has the approved call
  await page.keyboard.press("r");
  await page.keyboard.type("not today");
  await page.keyboard.press("Escape");
  await page.keyboard.press("d");
  await page.locator(".inbox-row").nth(2).waitFor({ state: "detached" });
  await page.keyboard.press("e");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("bob");
  await page.keyboard.press("Escape");
  await desk.look("inbox-edit");
  await page.keyboard.press("a");
  await page.locator(".inbox-row").nth(1).waitFor({ state: "detached" });
  await page.keyboard.press("x");
  await page.keyboard.press("a");
  await desk.heading("Approve 1 call?").waitFor();
  await desk.look("inbox-batch");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" }); // in a closed one, the field still has the focus for a frame
  await page.keyboard.press("a");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing waits for you").waitFor();
  await expect
    .poll(() => world.model.effects.map(({ args }) => args))
    .toEqual([{ to: "ann" }, { to: "bob" }, { to: "ann" }]);
  const denied = await Promise.all(["one", "two", "three", "four"].map((name) => world.other().history(name)));
  expect(JSON.stringify(denied)).toContain("not today");
  desk.untroubled();
});

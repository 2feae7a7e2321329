// The example of a chat, with each of its features.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { play, Tape } from "./tape.js";
import { World } from "./world.js";

/**
 * Returns how many milliseconds after the answer to a start the page lists the thread. The page takes both times, as the
 * test may be slow.
 */
async function sidebar(page: Page, title: string): Promise<() => Promise<number>> {
  await page.evaluate((title) => {
    const seen = new Promise<number>((resolve) => {
      const look = () => {
        if ([...document.querySelectorAll("nav button")].some((button) => button.textContent === title)) {
          changes.disconnect();
          resolve(performance.now());
        }
      };
      const changes = new MutationObserver(look);
      changes.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    Object.assign(window, { seen });
  }, title);
  return () =>
    page.evaluate(async () => {
      const seen = await (window as unknown as { seen: Promise<number> }).seen;
      const starts = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/api/agent/run"));
      return seen - ((starts.at(-1) as PerformanceResourceTiming | undefined)?.responseEnd ?? 0);
    });
}

test("a chat has nine features", async () => {
  const world = await World.start("chat", { expects: /400|Failed to load/ });
  const slow = new Tape().say("I write");
  const call = () => new Tape().call("c1", "send_email", { to: "ann@example.com" }).end();
  world.model.script = play({ go: [call(), new Tape().say("Sent.").end()], slow: [slow] });
  const { page } = await world.open("?chat");
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const say = async (text: string) => {
    await page.getByLabel("Message").fill(text);
    await button("Send").click();
  };

  const buffer = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const image = { name: "a.png", mimeType: "image/png", buffer };
  await page.getByLabel("Images").setInputFiles(image);
  const refusal = { status: 400, json: { error: "not now", code: "invalid" } };
  await page.route("**/api/agent/run", (route) => route.fulfill(refusal), { times: 1 });
  await say("hello");
  await page.getByRole("alert").getByText("not now").waitFor();
  const listed = await sidebar(page, "hello");
  await button("Retry").click();
  expect(await listed()).toBeLessThan(300);
  await page.getByText("You said: hello.").waitFor();
  expect(await page.locator("article img").getAttribute("src")).toMatch(/^data:image\/png;base64,iVBOR/);

  await say("go");
  await page.getByLabel("send_email").fill('{"to":"bob@example.com"}');
  const tokens = async () => Number.parseInt((await page.locator("output").textContent()) ?? "", 10);
  const before = await tokens();
  expect(before).toBeGreaterThan(0); // the step is saved, and the run waits
  await button("Approve").click();
  await page.getByText("Sent.").waitFor();
  await button("Send").waitFor();
  await expect.poll(tokens).toBeGreaterThan(before);

  await say("slow");
  await page.getByText("I write").waitFor();
  await button("Stop").click();
  await button("Send").waitFor();
  page.on("dialog", (dialog) => void dialog.accept("hello again"));
  await button("Edit").first().click();
  await page.getByText("You said: hello again.").waitFor();
  await button("Again").first().click();
  await expect.poll(() => page.locator("article img").count()).toBe(1); // the turn keeps its image
  await page.getByText("You said: hello again.").waitFor();
  await button("New").click();
  await page.locator("article").first().waitFor({ state: "detached" });
  await button("hello").click();
  await page.getByText("You said: hello again.").waitFor();
});

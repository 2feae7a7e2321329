// The example of a chat, with each of its features.
import { expect, test } from "vitest";
import { play, Tape } from "./tape.js";
import { World } from "./world.js";

test("a chat of sixty lines has nine features", async () => {
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
  const accepted = page.waitForResponse("**/api/agent/run");
  await button("Retry").click();
  await accepted;
  const began = performance.now();
  await button("hello").waitFor();
  expect(performance.now() - began).toBeLessThan(3000); // ten times what it may take, as the machine has other work
  await page.getByText("You said: hello.").waitFor();
  expect(await page.locator("article img").getAttribute("src")).toMatch(/^data:image\/png;base64,iVBOR/);

  await say("go");
  await page.getByLabel("send_email").fill('{"to":"bob@example.com"}');
  const before = await page.locator("output").textContent();
  expect(before).not.toBe("0 tokens"); // the step is saved, and the run waits
  await button("Approve").click();
  await page.getByText("Sent.").waitFor();
  await button("Send").waitFor();

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

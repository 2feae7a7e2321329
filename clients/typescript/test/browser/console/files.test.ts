// Files: those that a person attaches, those that a tool makes, and results that are too large for a message.
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";

const pdf = (mebibytes: number) => Buffer.concat([Buffer.from("%PDF-1.4\n"), Buffer.alloc(mebibytes << 20, 37)]);

test("files of a person", async () => {
  const world = await World.start("console-files", {
    flags: ["--base-path", "/agents"],
    config:
      'artifacts: {type: directory, path: files, max_bytes: 8388608}\nserver: {public_url: "https://spool.example.com"}',
  });
  const desk = await Desk.open(world, "", { at: `${world.server.url}/agents` });
  const attach = (name: string, mimeType: string, buffer: Buffer) =>
    desk.page.getByLabel("Files to attach").setInputFiles({ name, mimeType, buffer });
  const file = (name: string) => desk.page.getByLabel("Attached files").getByText(name);

  await attach("early.pdf", "application/pdf", pdf(6));
  await file("larger than 5 MiB; send a first message").waitFor();
  await desk.look("attachment-early");
  await desk.button("Remove early.pdf").click();

  await attach("small.png", "image/png", png(8));
  await attach("noise.png", "image/png", png(200));
  await attach("notes.md", "", Buffer.from("# Notes"));
  await desk.send("look at these");
  await desk.page.getByText("You said: look at these").waitFor();
  await desk.page.locator("img.attached").waitFor(); // the small one came with the message
  const big = desk.page.locator(".turn .artifact", { hasText: /image/ });
  await expect.poll(() => big.locator("img").evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(200);
  await desk.look("attached");

  await attach("large.pdf", "application/pdf", pdf(6));
  await file("6.3 MB").waitFor();
  await attach("huge.pdf", "application/pdf", pdf(9));
  await desk.page.locator('.files li[data-bad="true"]').waitFor();
  expect(await desk.page.locator('.files li[data-bad="true"]').innerText()).toMatch(/large|8388608|8 MiB/);
  await desk.look("attachment-refused");
  expect(await desk.button("Send").isDisabled()).toBe(true); // a turn without the file would be another one
  await desk.button("Remove huge.pdf").click();
  await desk.send("and this");
  await desk.page.getByText("You said: and this").waitFor();
  const [saved] = await Promise.all([
    desk.page.waitForEvent("download"),
    desk.page.locator(".turn", { hasText: "large.pdf" }).getByRole("button", { name: "Save" }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe("large.pdf");
  desk.expects(/status of 413/);
  desk.untroubled();
});

test("a result of 10 MB, and an image of a tool", async () => {
  const world = await World.start("console-results", { flags: ["--artifacts", "files"] });
  const huge = Array.from({ length: 100_000 }, (_, i) => `line ${i} ${"x".repeat(90)}`).join("\n");
  world.model.tools.set("look", () => huge);
  world.model.script = play({
    look: [new Tape().call("c1", "look", {}).end(), new Tape().say("That is a lot.").end()],
  });
  const desk = await Desk.open(world);
  await desk.send("look");
  await desk.page.getByText("That is a lot.").waitFor();
  await desk.page.locator(".call-line", { hasText: "look" }).click();
  await desk.heading("The beginning of the result").waitFor();
  await desk.look("large-result");
  const [saved] = await Promise.all([desk.page.waitForEvent("download"), desk.button("Save").click()]);
  const copy = join(world.folder, "result");
  await saved.saveAs(copy);
  expect(statSync(copy).size).toBeGreaterThan(9_000_000);
  expect(await desk.page.evaluate(() => document.body.innerText.length)).toBeLessThan(20_000);
  desk.untroubled();
});

/** A picture of noise, which does not become small. */
function png(size: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length);
    body.copy(out, 4);
    out.writeUInt32BE(crc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2], 8);
  const rows = Buffer.concat(
    Array.from({ length: size }, () => Buffer.concat([Buffer.alloc(1), randomBytes(size * 3)])),
  );
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function crc(data: Buffer): number {
  let rest = -1;
  for (const byte of data) {
    rest ^= byte;
    for (let i = 0; i < 8; i++) {
      rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    }
  }
  return (rest ^ -1) >>> 0;
}

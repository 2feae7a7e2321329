// What a model or a person sends to harm those who read it. It stays text, asks nobody, and does not stop the page.
import { expect, test } from "vitest";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";

const evil = "https://evil.invalid";
const attacks = [
  `<script>document.title = "owned"</script><img src="${evil}/a.png" onerror="document.title='owned'">`,
  `<svg onload="document.title='owned'"><iframe src="${evil}"></iframe><base href="${evil}"><meta http-equiv="refresh" content="0;url=${evil}">`,
  `<style>body { display: none; background: url(${evil}/b.png) }</style><form action="${evil}"><button>Approve</button></form>`,
  "[a](javascript:document.title='owned') [b](JaVa\tScript:document.title='owned') <javascript:document.title='owned'>",
  "[c](data:text/html,<script>document.title='owned'</script>) [d](vbscript:x) [e](#/operations/jobs) [f](//evil.invalid/)",
  `![g](${evil}/c.png "t") ![h](data:image/svg+xml,<svg/onload=alert(1)>) [![i](${evil}/d.png)](${evil}/e)`,
  `[k]: ${evil}/f.png "t"\n\n![k] and [k][k]`,
  `[bank](https://bank.example.com@evil.invalid/) [xn](https://аpple.com/)`,
  `\u202Etxt.exe\u202C and \u2066isolated and never closed, \u200Bzero\u200Bwidth`,
  "- ".repeat(500) + "deep",
  ">".repeat(1000) + " deep",
  "*".repeat(5000) + "a",
  "[".repeat(3000) + "a",
  "_a*".repeat(30_000),
  "**a_".repeat(6000),
  "[a](".repeat(6000),
];

const table = `| ${Array.from({ length: 60 }, (_, i) => `h${i}`).join(" | ")} |\n|${"---|".repeat(60)}\n${`| ${"cell | ".repeat(60)}\n`.repeat(300)}`;

test("what a model says is text", async () => {
  const world = await World.start("console-hostile", { config: "context: {ceiling: 10000000}" }); // room for all of it
  const answer = new Tape();
  const fence = new Tape().say("```html\n<script>document.title = 'owned'</script>\nand no end, "); // the fence is open
  const wide = new Tape().say("Many cells.\n\n");
  for (let at = 0; at < table.length; at += 2000) {
    wide.say(table.slice(at, at + 2000)); // the block is read again while it grows
  }
  const line = new Tape().say("x".repeat(1 << 20));
  for (const attack of attacks) {
    answer.say(`${attack}\n\n`);
  }
  world.model.tools.set("look", () => ({
    html: attacks[0],
    artifact: { id: "../../../../admin/purge?", name: "<b>x</b>", mediaType: "image/png" },
    image: `${evil}/h.png`,
  }));
  world.model.script = play({
    go: [answer.call("c1", "look", { html: attacks[1] }).end(), fence.end()],
    line: [line.end()],
    table: [wide.end()],
  });
  const desk = await Desk.open(world);
  const { page } = desk;
  page.on("dialog", (dialog) => void dialog.dismiss());
  const title = await page.title();
  await desk.send("go");
  await page.getByText("and no end,").waitFor();
  await desk.button("Send").waitFor();
  for (const call of await page.locator(".call-line").all()) {
    await call.click();
  }
  const answers = page.locator(".messages");
  expect(await answers.locator("script, iframe, svg, style, form, base, meta, img, object, embed, link").count()).toBe(
    0,
  );
  const links = await answers
    .locator("a")
    .evaluateAll((all: HTMLAnchorElement[]) =>
      all.map(({ href, rel, target, title }) => ({ href, rel, target, title })),
    );
  for (const { href, rel, target, title } of links) {
    expect(href).toMatch(/^(https?|mailto):/);
    expect([rel, target]).toEqual(["noopener noreferrer", "_blank"]);
    expect(title).toBe(href); // where it leads can be seen
  }
  expect(links.some(({ href }) => href.includes("@evil") || href.includes("operations"))).toBe(false);
  expect(await page.title()).toBe(title);
  // A text that turns the direction of writing does not turn what is around it.
  const [before, after] = await Promise.all(
    ["and never", "zero"].map((text) => page.getByText(text).first().isVisible()),
  );
  expect([before, after]).toEqual([true, true]);
  await desk.look("hostile");

  for (const prompt of ["table", "line"]) {
    await desk.send(prompt);
    await page
      .getByText(prompt === "line" ? "xxxxxxxx" : "Many cells.")
      .last()
      .waitFor();
    await desk.button("Send").waitFor();
  }
  expect(await page.locator(".answer td").count()).toBe(18_000);
  await desk.field.fill("still here");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  expect(await desk.field.inputValue()).toBe("still here");
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await desk.send(`<img src=x onerror="document.title='owned'"> ${evil}`); // a person can be hostile too
  await page.getByText("You said: <img").waitFor();
  await desk.go("#/operations");
  await desk.go("#/inbox");
  await desk.go("#/threads");
  await desk.page.getByRole("link", { name: /go/ }).first().waitFor();
  expect(await page.title()).toBe(title);
  desk.untroubled();
});

test("what asks for an approval is text", async () => {
  const world = await World.start("console-hostile-call");
  const args = { to: `\u202Emoc.knab@nna`, html: attacks[0], big: "y".repeat(1 << 20), deep: nested(200) };
  world.model.script = play({ go: [new Tape().call("c1", "send_email", args).end()] });
  const desk = await Desk.open(world);
  await desk.send("go");
  await desk.heading("Allow send_email?").waitFor();
  expect(await desk.question.locator("script, img").count()).toBe(0);
  await desk.page
    .getByText(/\\u202e/i)
    .first()
    .waitFor(); // what turns the text is shown as what it is
  await desk.look("hostile-approval");
  await desk.go("#/inbox");
  await desk.page.locator(".inbox-row").waitFor();
  await desk.look("hostile-inbox");
  desk.untroubled();
});

function nested(depth: number): unknown {
  return depth === 0 ? "end" : [nested(depth - 1)];
}

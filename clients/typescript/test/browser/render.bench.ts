// npm run bench:render, from clients/typescript: an answer of 2,000 tokens at 200 a second, on a page of hooks and on one
// that appends the same text to one node. Prints the work of the main thread for each frame, and the ratio. It is a
// measurement and no test: machines differ, and nothing fails.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Gate, until } from "./gate.js";
import { framesOf, quantile } from "./trace.js";
import { browser, closeBrowser, World } from "./world.js";

afterAll(closeBrowser);

const tokens = 2000;
const perSecond = 200;
const rounds = 2;

/** Appends what comes to one text node: the least that a page can do. */
const plain = `<!doctype html><main></main><script type="module">
const text = document.querySelector("main").appendChild(new Text());
const events = new EventSource("/api/agent/stream?threadId=" + new URLSearchParams(location.search).get("threadId"));
events.onmessage = ({ data }) => {
  const frame = JSON.parse(data);
  if (frame.item?.type === "TEXT_MESSAGE_CONTENT") text.appendData(frame.item.delta);
};
</script>`;

test("rendering", { timeout: 180_000 }, async () => {
  const world = await World.start("render");
  writeFileSync(join(process.env.SPOOL_TEST_PAGE ?? "", "plain.html"), plain);
  let ready = new Gate();
  world.model.script = async (_, answer) => {
    await ready.passed;
    const began = performance.now();
    for (let i = 0; i < tokens; i++) {
      const wait = began + (i * 1000) / perSecond - performance.now();
      if (wait > 0) {
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
      await answer.text(i % 12 === 11 ? `token${i}.\n` : `token${i} `);
    }
  };
  const measure = async (path: string, thread: string) => {
    ready = new Gate();
    await world.other().run({ threadId: thread, prompt: "long" });
    const page = await (await (await browser()).newContext()).newPage();
    page.on("pageerror", (error) => console.error(error));
    await page.goto(`${world.site.url}/${path}?threadId=${thread}`);
    const devtools = await page.context().newCDPSession(page);
    const shows = (text: string) =>
      page.evaluate((t) => document.querySelector("main")?.textContent?.includes(t), text);
    await until("the page", () => page.evaluate(() => document.querySelector("main") !== null));
    ready.open();
    await until("the first token", () => shows("token1 "));
    const frames = await framesOf(devtools, async () => {
      await until("the last token", () => shows(`token${tokens - 50}`), 60_000);
    });
    await page.context().close();
    return frames;
  };
  const hooks: number[] = [];
  const node: number[] = [];
  for (let i = 0; i < rounds; i++) {
    hooks.push(...(await measure("", `hooks${i}`)));
    node.push(...(await measure("plain.html", `plain${i}`)));
  }
  const row = (name: string, frames: number[]) =>
    `${name}: p50 ${quantile(frames, 0.5).toFixed(2)} ms, p95 ${quantile(frames, 0.95).toFixed(2)} ms, p99 ${quantile(frames, 0.99).toFixed(2)} ms, ${frames.length} frames`;
  console.log(row("hooks", hooks));
  console.log(row("one node", node));
  console.log(`p95 ratio: ${(quantile(hooks, 0.95) / quantile(node, 0.95)).toFixed(2)}`);
});

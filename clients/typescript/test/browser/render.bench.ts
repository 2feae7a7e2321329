// npm run bench:render, from clients/typescript: an answer of 2,000 tokens at 200 a second, on a page of hooks, in the
// console, and on a page that appends the same text to one node. Prints the work of the main thread for each frame, and the ratios. It is a
// measurement and no test: machines differ, and nothing fails. "GOWORK=off go run . -only render" in bench writes it into RESULTS.md:
// SPOOL_BENCH_ROUNDS is how often each page is measured, and SPOOL_BENCH_OUT is the file of the numbers.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { Gate, until } from "./gate.js";
import { framesOf, quantile } from "./trace.js";
import { browser, World } from "./world.js";

const tokens = 2000;
const perSecond = 200;
const rounds = Number(process.env.SPOOL_BENCH_ROUNDS ?? 2);

/** Appends what comes to one text node: the least that a page can do. */
const plain = `<!doctype html><main></main><script type="module">
const text = document.querySelector("main").appendChild(new Text());
const events = new EventSource("/api/agent/stream?threadId=" + new URLSearchParams(location.search).get("threadId"));
events.onmessage = ({ data }) => {
  const frame = JSON.parse(data);
  if (frame.item?.type === "TEXT_MESSAGE_CONTENT") text.appendData(frame.item.delta);
};
</script>`;

test("rendering", { timeout: 30_000 + rounds * 90_000 }, async () => {
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
  const measure = async (address: string, thread: string) => {
    ready = new Gate();
    await world.other().run({ threadId: thread, prompt: "long" });
    const page = await (await (await browser()).newContext()).newPage();
    page.on("pageerror", (error) => console.error(error));
    await page.goto(address + thread);
    const devtools = await page.context().newCDPSession(page);
    const shows = (text: string) =>
      page.evaluate((t) => document.querySelector("main")?.textContent?.includes(t), text);
    await until("the page", () => page.evaluate(() => document.querySelector("main") !== null));
    ready.open();
    await until("the first token", () => shows("token1 "));
    const frames = await framesOf(devtools, async () => {
      await until("the last token", () => shows(`token${tokens - 50}`));
    });
    await page.context().close();
    return frames;
  };
  const hooks: Round[] = [];
  const shown: Round[] = [];
  const node: Round[] = [];
  for (let i = 0; i < rounds; i++) {
    hooks.push(roundOf(await measure(`${world.site.url}/?threadId=`, `hooks${i}`)));
    shown.push(roundOf(await measure(`${world.server.url}/#/threads/`, `console${i}`)));
    node.push(roundOf(await measure(`${world.site.url}/plain.html?threadId=`, `plain${i}`)));
    console.log(`hooks ${said(hooks[i])}; console ${said(shown[i])}; one node ${said(node[i])}`);
    console.log(`p95 ratios: ${ratio(hooks[i], node[i]).toFixed(2)}, ${ratio(shown[i], node[i]).toFixed(2)}`);
  }
  if (process.env.SPOOL_BENCH_OUT !== undefined) {
    writeFileSync(process.env.SPOOL_BENCH_OUT, JSON.stringify({ hooks, console: shown, node }));
  }
});

/** The work of the main thread in a frame, in milliseconds. */
interface Round {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

function roundOf(frames: readonly number[]): Round {
  return { p50: quantile(frames, 0.5), p95: quantile(frames, 0.95), p99: quantile(frames, 0.99) };
}

function said(round: Round | undefined): string {
  return Object.entries(round ?? {})
    .map(([name, value]) => `${name} ${value.toFixed(2)} ms`)
    .join(", ");
}

function ratio(a: Round | undefined, b: Round | undefined): number {
  return (a?.p95 ?? Number.NaN) / (b?.p95 ?? Number.NaN);
}

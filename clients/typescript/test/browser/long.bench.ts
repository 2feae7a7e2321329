// npm run bench:long, from clients/typescript: the longest task of a page's main thread in the cases of long.ts, beside
// plain work of the same page. It is a measurement and no test: nothing fails. "GOWORK=off go run . -only long" in bench
// writes it into RESULTS.md: SPOOL_BENCH_ROUNDS is how often each case is measured, and SPOOL_BENCH_OUT is the file of
// the numbers.
import { writeFileSync } from "node:fs";
import { afterAll, test } from "vitest";
import { type Act, type Look, largeResultComes, longThreadGoesOn } from "./long.js";
import { longest, tasksOf } from "./trace.js";
import type { Tab } from "./world.js";

const rounds = Number(process.env.SPOOL_BENCH_ROUNDS ?? 2);

/** The processor's time of the longest task, in milliseconds: of an act, and of plain work right behind it. */
interface Round {
  readonly act: number;
  readonly plain: number;
}

const all: Partial<Record<Act, Round[]>> = {};

const look: Look = async (tab, act, during) => {
  const round = { act: longest(await tasksOf(tab.devtools, during)), plain: await plainWork(tab) };
  all[act] = [...(all[act] ?? []), round];
  console.log(`${act}: ${round.act.toFixed(1)} ms, plain ${round.plain.toFixed(1)} ms`);
};

for (let i = 0; i < rounds; i++) {
  test(`a long thread, round ${i}`, () => longThreadGoesOn(look));
  test(`a large result, round ${i}`, () => largeResultComes(look));
}

afterAll(() => {
  if (process.env.SPOOL_BENCH_OUT !== undefined) {
    writeFileSync(process.env.SPOOL_BENCH_OUT, JSON.stringify(all));
  }
});

/** Puts 6,000 short lines on the screen at once. That takes 80 to 210 ms on two cores, which a person hardly notices. */
async function plainWork(tab: Tab): Promise<number> {
  const tasks = await tasksOf(tab.devtools, () =>
    tab.page.evaluate(() => {
      const box = document.body.appendChild(document.createElement("div"));
      for (let i = 0; i < 6_000; i++) {
        box.appendChild(document.createElement("p")).textContent = `Line ${i}.`;
      }
      box.getBoundingClientRect();
      box.remove();
    }),
  );
  return longest(tasks);
}

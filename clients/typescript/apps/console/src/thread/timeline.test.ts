import type { ViewRun } from "@spool/client";
import { expect, test } from "vitest";
import { barsOf } from "./timeline.js";

const at = (s: number) => new Date(1_000_000 + s * 1000).toISOString();
const run = (id: string, from: number, to?: number) =>
  ({ id, startedAt: at(from), ...(to !== undefined && { endedAt: at(to) }) }) as ViewRun;

test("bars are parts of the time of all runs, and a run that is not over lasts until now", () => {
  const root = {
    run: run("a", 0),
    children: [
      { run: run("b", 2, 4), children: [] },
      { run: run("c", 5), children: [] },
    ],
  };
  const { bars, totalMs } = barsOf(root, 1_000_000 + 10_000);
  expect(totalMs).toBe(10_000);
  expect(bars.map(({ run, depth, from, to }) => [run.id, depth, from, to])).toEqual([
    ["a", 0, 0, 1],
    ["b", 1, 0.2, 0.4],
    ["c", 1, 0.5, 1],
  ]);
});

test("a run without times has a place", () => {
  const { bars } = barsOf({ run: { id: "a" } as ViewRun, children: [] }, 5000);
  expect(bars[0]?.from).toBe(0);
});

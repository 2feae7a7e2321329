import { expect, test } from "vitest";
import { enough } from "./budget.js";

test.each([
  // What is used, the next prompt, which has all of it, and an answer of 8,192 fit.
  ["tokenBudget", 10, 120, 8500],
  ["tokenBudget", 600, 450, 9300],
  ["tokenBudget", 100_000, 99_000, 210_000],
  ["tokenBudget", 50, 0, 8300],
  ["costBudgetMicros", 10, 1509, 10_000],
  ["costBudgetMicros", 50_000, 60_000, 180_000],
  ["toolCallBudget", 1, 1, 11],
  ["toolCallBudget", 0, 0, 10],
  ["wallTimeMs", 1000, 1400, 61_400],
])("a run with %s %d that has used %d needs %d", (name, total, spent, want) => {
  expect(enough(name, total, spent)).toBe(want);
});

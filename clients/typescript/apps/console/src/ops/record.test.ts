import type { ThreadEvent } from "@spool/client";
import { expect, test } from "vitest";
import { linesOf } from "./record.js";

const entry = (seq: number, type: string, payload: unknown) =>
  ({ seq, type, payload, threadId: "t", createdAt: "2026-01-01T00:00:00Z" }) as ThreadEvent;

test("a crash, the takeover and what follows are marked", () => {
  const lines = linesOf([
    entry(1, "RUN_STARTED", { segment: 1 }),
    entry(2, "RUN_ENDED", { segment: 1, status: "lost" }),
    entry(3, "RUN_STARTED", { segment: 2 }),
    entry(4, "INPUT_REQUIRED", { toolName: "send", reason: "approval" }),
    entry(5, "RUN_ENDED", { segment: 2, status: "parked" }),
    entry(6, "HITL_RESPONSE", { approved: true, answeredBy: "ann", reason: "fine" }),
    entry(7, "RUN_STARTED", { segment: 3 }),
    // The worker died so hard that nobody wrote its end.
    entry(8, "RUN_STARTED", { segment: 4 }),
    entry(9, "RUN_ENDED", { segment: 4, status: "finished" }),
    entry(10, "shop.paid", {}),
    entry(11, "HITL_RESPONSE", { approved: false, answeredBy: "cleo", via: "link", viaBy: "ann" }),
    entry(12, "COST_BUDGET_EXHAUSTED", { costMicros: 10, costBudgetMicros: 10 }),
    entry(13, "COST_BUDGET_EXHAUSTED", { costMicros: 4, costBudgetMicros: 10, unpricedModel: "spare" }),
  ]);
  expect(lines.map((line) => line.mark ?? "")).toEqual([
    "",
    "lost",
    "takeover",
    "asked",
    "",
    "answered",
    "",
    "takeover",
    "",
    "",
    "answered",
    "",
    "",
  ]);
  expect(lines[5]?.text).toBe("approved by ann: fine");
  expect(lines[9]?.text).toBe("shop.paid");
  expect(lines[10]?.text).toBe("denied by cleo by a link of ann");
  expect(lines[11]?.text).toBe("the budget of money is used up");
  expect(lines[12]?.text).toBe("the run came to spare, which has no price");
});

import { emptyView, type Park, type ThreadView, type ViewRun } from "@spool/client";
import { expect, test } from "vitest";
import { moment } from "../ui/format.js";
import { whyOf } from "./why.js";

const now = Date.parse("2026-01-01T12:00:00Z");
const run = { id: "r1", depth: 0, state: "RUNNING", startedBy: "ann" } as ViewRun;
const view = (fields: Partial<ThreadView>, state: ThreadView["thread"]["state"]): ThreadView => ({
  ...emptyView,
  runs: [run],
  ...fields,
  thread: { ...emptyView.thread, state },
});
const park = (fields: Partial<Park>): Park =>
  ({
    toolCallId: "c1",
    toolName: "send",
    reason: "approval",
    arguments: {},
    runId: "r1",
    frames: [],
    agentId: null,
    ...fields,
  }) as Park;

test.each<[string, ThreadView, string | null]>([
  [
    "approval",
    view({ parks: [park({ expiresAt: "2026-01-01T15:00:00Z" })] }, "WAITING_FOR_INPUT"),
    "Waits for someone to approve send; expires in 3 h 0 min.",
  ],
  [
    "nobody answered",
    view(
      { runs: [{ ...run, state: "COMPLETED", expired: { questions: 1, since: "2026-01-01T03:05:00Z" } }] },
      "COMPLETED",
    ),
    `Nobody answered until ${moment("2026-01-01T03:05:00Z", now)}.`,
  ],
  [
    "nobody answered, and it failed",
    view(
      {
        runs: [
          {
            ...run,
            state: "FAILED",
            error: "nobody answered the call of send in time",
            expired: { questions: 2, since: "2026-01-01T03:05:00Z" },
          },
        ],
      },
      "FAILED",
    ),
    `Failed: nobody answered the call of send in time. Nobody answered 2 questions, the first until ${moment("2026-01-01T03:05:00Z", now)}.`,
  ],
  [
    "another person",
    view({ parks: [park({ distinctApprover: true })] }, "WAITING_FOR_INPUT"),
    "Waits for someone other than ann to approve send.",
  ],
  [
    "several",
    view({ parks: [park({}), park({ toolCallId: "c2" })] }, "WAITING_FOR_INPUT"),
    "Waits for someone to approve send and 1 more.",
  ],
  [
    "unknown outcome",
    view({ parks: [park({ reason: "outcome_unknown" })] }, "WAITING_FOR_INPUT"),
    "Waits for someone to say what send did before its worker died.",
  ],
  [
    "budget",
    view(
      {
        parks: [
          park({
            reason: "budget_reached",
            toolName: "budget",
            arguments: { exhausted: "token_budget", budget: { tokenBudget: 5000 } },
          }),
        ],
      },
      "WAITING_FOR_INPUT",
    ),
    "Needs more than its budget of 5,000 tokens, and waits for a new one.",
  ],
  [
    "work elsewhere",
    view(
      { pending: [{ toolCallId: "c", toolName: "audit", until: "2026-01-01T12:01:00Z", note: "half", runId: "r1" }] },
      "QUEUED",
    ),
    "Waits for the work of audit elsewhere (half); gives up in 1 min 0 s.",
  ],
  [
    "retry",
    view({ retry: { runId: "r1", at: "2026-01-01T12:00:05Z", error: "503" } }, "QUEUED"),
    "The last attempt failed: 503. The next one begins in 5.0 s.",
  ],
  [
    "provider",
    view({ providerWaits: [{ agentId: null, limit: "tokens" }] }, "RUNNING"),
    "Waits for a limit of the model's provider: tokens.",
  ],
  ["all questions are answered", view({}, "WAITING_FOR_INPUT"), "Waits for a worker."],
  ["at work", view({}, "RUNNING"), null],
  ["done", view({ runs: [{ ...run, stopReason: "completed" } as ViewRun] }, "COMPLETED"), null],
  [
    "cut short",
    view({ runs: [{ ...run, stopReason: "max_steps" } as ViewRun] }, "COMPLETED"),
    "Ended early: it took as many steps as it may.",
  ],
  [
    "an unknown end",
    view({ runs: [{ ...run, stopReason: "unknown_finish" } as ViewRun] }, "COMPLETED"),
    "Ended early: the provider ended the answer with a word that is not known, so it may be cut.",
  ],
  [
    "repeated calls",
    view({ runs: [{ ...run, stopReason: "repeated_call" } as ViewRun] }, "COMPLETED"),
    "Ended early: the model made the same call with the same result again and again.",
  ],
  [
    "money",
    view({ runs: [{ ...run, stopReason: "cost_budget" } as ViewRun] }, "COMPLETED"),
    "Ended early: its budget of money is used up, or it came to a model without a price.",
  ],
  ["failed", view({ runs: [{ ...run, error: "no model" } as ViewRun] }, "FAILED"), "Failed: no model"],
  [
    "steered",
    view(
      {
        runs: [{ ...run, id: "r2", stopReason: "steered" } as ViewRun, { ...run, stopReason: "max_steps" } as ViewRun],
      },
      "COMPLETED",
    ),
    "Ended early: it took as many steps as it may.",
  ],
])("%s", (_, one, want) => {
  expect(whyOf(one, now)).toBe(want);
});

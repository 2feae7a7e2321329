import type { Message, ThreadEvent } from "@spool/client";
import { expect, test } from "vitest";
import fixtures from "../../../../../../spec/fixtures/entries.json?raw";
import { speaker } from "./entry.js";

const entry = (type: string, payload: unknown, more = {}) =>
  ({ seq: 1, type, payload, threadId: "t", createdAt: "2026-01-01T00:00:00Z", runId: "r", ...more }) as ThreadEvent;

/** What entries say, with their marks. */
function told(entries: readonly ThreadEvent[], messages?: ReadonlyMap<string, Message>): string[] {
  const say = speaker(messages);
  return entries.map((one) => {
    const { text, marks } = say(one);
    return [...marks.map((mark) => `[${mark}]`), text].join(" ");
  });
}

const gone = "the worker went away";

test("a crash, the takeover and what follows are marked", () => {
  expect(
    told([
      entry("RUN_STARTED", { segment: 1 }),
      entry("RUN_ENDED", { segment: 1, status: "lost", error: gone }),
      entry("RUN_STARTED", { segment: 2 }),
      entry("INPUT_REQUIRED", { toolCallId: "c", toolName: "send", reason: "approval" }),
      entry("RUN_ENDED", { segment: 2, status: "parked" }),
      entry("HITL_RESPONSE", { toolCallId: "c", approved: true, answeredBy: "ann", reason: "fine" }),
      entry("RUN_STARTED", { segment: 3 }),
      // The worker died so hard that nobody wrote its end.
      entry("RUN_STARTED", { segment: 4 }),
      entry("RUN_ENDED", { segment: 4, status: "lost", error: "the worker shuts down" }),
      entry("RUN_STARTED", { segment: 5 }),
      entry("RUN_ENDED", { segment: 5, status: "error", error: "no model", retryAfterMs: 1500 }),
      entry("RUN_STARTED", { segment: 6 }),
      entry("RUN_ENDED", { segment: 6, status: "finished", stopReason: "max_steps" }),
    ]),
  ).toEqual([
    "[start] a worker began the run",
    "[lost] the worker of segment 1 was lost",
    "[takeover] another worker took the run over, with segment 2",
    "[asked] the run waits for someone to approve send",
    "the run waits without a worker",
    "[answered] ann approved send: “fine”",
    "a worker went on with the run, with segment 3",
    "[takeover] another worker took the run over, with segment 4",
    "[lost] the worker of segment 4 gave the run back: the worker shuts down",
    "a worker went on with the run, with segment 5",
    "[failed] segment 5 failed: no model, and the run is tried again after 1.5 s",
    "a worker went on with the run, with segment 6",
    "[end] the run ended early: it took as many steps as it may",
  ]);
});

test("a handover ends a segment, and no run", () => {
  expect(
    told([
      entry("HANDED_OVER", { step: 2, from: "desk", to: "billing", history: "all" }),
      entry("RUN_ENDED", { segment: 1, status: "finished" }),
      entry("RUN_STARTED", { segment: 2 }),
      entry("RUN_ENDED", { segment: 2, status: "finished" }),
      entry("HANDED_OVER", { step: 2, from: "desk", to: "billing", history: "all" }, { runId: "other" }),
    ]),
  ).toEqual([
    "[handover] desk handed the thread to billing",
    "the run goes on with billing",
    "a worker went on with the run, with segment 2",
    "[end] the run ended",
    "[handover] desk handed the thread to billing",
  ]);
});

test("what an entry says is clearer behind others", () => {
  const steered = entry("STEERED", { messageId: "m", steps: 2 });
  const answered = entry("HITL_RESPONSE", { toolCallId: "b", approved: false, via: "link", viaBy: "ann" });
  expect(told([steered, answered])).toEqual([
    "[steered] a message was put into the run, after step 2",
    "[answered] someone denied the call by a link of ann",
  ]);
  const args = { exhausted: "token_budget", budget: { tokenBudget: 5000 } };
  const asks = { toolCallId: "b", toolName: "budget", reason: "approval", about: "budget_reached", arguments: args };
  const messages = new Map([["m", { content: "  stop\nit " } as Message]]);
  expect(told([steered, entry("INPUT_REQUIRED", asks), answered], messages)).toEqual([
    "[steered] the message “stop it” was put into the run, after step 2",
    "[budget] [asked] the budget of 5,000 tokens is used up, and the run asks for a new one",
    "[budget] [answered] someone denied a new budget by a link of ann",
  ]);
});

test("a file may lack everything", () => {
  const kinds = new Set(JSON.parse(fixtures).entries.map((one: { value: ThreadEvent }) => one.value.type));
  for (const kind of kinds) {
    expect(told([{ type: kind, seq: 1 } as ThreadEvent, { type: kind, payload: { reason: 1 } } as never])).toHaveLength(
      2,
    );
  }
});

test("every kind has words, an application's events too", () => {
  const cases: { name: string; value: ThreadEvent }[] = JSON.parse(fixtures).entries;
  expect(cases.length).toBeGreaterThan(20);
  const words = new Map(cases.map(({ name, value }) => [name, told([value])[0]]));
  for (const [name, text] of words) {
    expect(text, name).toMatch(/^.{8,300}$/);
    expect(text, name).not.toMatch(/undefined|null|NaN|\[object/);
  }
  expect(words.get("the money is used up")).toBe("[budget] the run came to local, which has no price");
  expect(words.get("a nested run's model takes no images of results")).toBe(
    "the model small does not get images and files of tool results",
  );
  expect(words.get("an application's own")).toBe("the application published receipt");
  expect(words.get("a kind to come")).toBe("something new");
  expect(told([entry("toString", {}, { published: true })])).toEqual(["the application published toString"]);
});

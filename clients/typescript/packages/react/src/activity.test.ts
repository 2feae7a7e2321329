import { emptyView, type PendingCall, type ThreadState } from "@spool/client";
import { expect, test } from "vitest";
import { activityOf } from "./activity.js";

test("work elsewhere waits for nobody's answer", () => {
  const thread = { ...emptyView.thread, state: "WAITING_FOR_INPUT" as const };
  const pending = [{ toolCallId: "c1", toolName: "audit", runId: "r1" } as PendingCall];
  const state = (fields: object) =>
    ({ loading: false, threadId: "t", turns: [], view: { ...emptyView, thread, ...fields } }) as unknown as ThreadState;
  expect(activityOf(state({ pending }))).toEqual({
    phase: "waiting-work",
    label: "Waiting for work elsewhere: audit",
    detail: "audit",
  });
  const parks = [{ toolCallId: "c2", toolName: "send" }];
  expect(activityOf(state({ pending, parks })).label).toBe("Waiting for an answer: send");
  expect(activityOf(state({})).label).toBe("Waiting for an answer");
});

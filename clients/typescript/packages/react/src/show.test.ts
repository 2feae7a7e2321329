import { expect, test } from "vitest";
import { type ShownToolCall, shown } from "./show.js";

/** Returns how a call with the result is shown. */
function stateAfter(result: unknown): string {
  const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "look", args: {} };
  const message = {
    id: "m1",
    threadId: "t",
    agentId: null,
    role: "assistant" as const,
    content: [call],
    createdAt: "",
  };
  const around = { results: new Map([["c1", result]]), parks: [], pending: [], runs: [] };
  return (shown(message, false, around).parts[0] as ShownToolCall).state;
}

test.each([
  ["done", { temperature: 3 }],
  ["done", "an error: as the tool says"],
  ["done", null],
  ["error", "error: there is no such file"],
  ["error", { error: "there is no such file" }],
  ["error", { error: "the call was cut off", outcome: "unknown" }],
  ["error", { approved: true, error: "there is no such file" }],
  ["done", { approved: true, result: "sent" }],
  ["denied", { denied: true, reason: "no" }],
  ["cancelled", { cancelled: true, reason: "stopped" }],
  ["cancelled", { responded: false, cancelled: true, reason: "timeout" }],
])("a call is shown as %s after %j", (state, result) => {
  expect(stateAfter(result)).toBe(state);
});

import { emptyView, type Park, type PendingCall, type ThreadView } from "@spool/client";
import { expect, test } from "vitest";
import { moment } from "../ui/format.js";
import { isOlder, waitOf } from "./wait.js";

const view = (state: string, fields: Partial<ThreadView> = {}): ThreadView => ({
  ...emptyView,
  ...fields,
  thread: { ...emptyView.thread, state: state as ThreadView["thread"]["state"] },
});
const park = (reason: string, agentId: string | null = null) =>
  ({ toolCallId: reason, toolName: "send", reason, runId: "r1", agentId }) as Park;
const pending = (toolName: string, agentId: string | null = null) =>
  ({ toolCallId: toolName, toolName, runId: "r1", agentId }) as unknown as PendingCall;
const at = "2026-01-01T12:00:05Z";
const root = (state: string) => ({ id: "r1", depth: 0, state });
const nested = (id: string, state: string) => ({ id, depth: 1, state });
const person = { asks: true, text: "needs you" };
const work = { asks: false, text: "waits for audit's work" };

test.each(["approval", "outcome_unknown", "budget_reached", "client_tool", "elicitation", "sign_in"])(
  "a question needs a person: %s",
  (reason) => {
    expect(waitOf(view("WAITING_FOR_INPUT", { parks: [park(reason)], pending: [pending("audit")] }))).toEqual(person);
  },
);

test("nobody has to answer", () => {
  const audit = view("WAITING_FOR_INPUT", { pending: [pending("audit")] });
  expect(waitOf(audit)).toEqual(work);
  expect(waitOf({ ...audit, pending: [pending("audit"), pending("build")] })?.text).toBe(
    "waits for audit's work and 1 more",
  );
  expect(waitOf(view("WAITING_FOR_INPUT"))).toEqual({ asks: false, text: "waits for a worker" });
  const retry = { retry: { runId: "r1", at } };
  expect(waitOf(view("QUEUED", retry))).toEqual({ asks: false, text: `waits for the retry at ${moment(at)}` });
  expect(waitOf(view("QUEUED"))).toBeNull();
  expect(waitOf(view("RUNNING", { pending: [pending("audit")] }))).toBeNull();
  expect(waitOf(view("COMPLETED"))).toBeNull();
});

test("each run of a tree waits for its own", () => {
  const both = view("WAITING_FOR_INPUT", { parks: [park("approval", "n1")], pending: [pending("audit", "n2")] });
  expect(waitOf(both, root("WAITING_FOR_INPUT"))).toEqual(person);
  expect(waitOf(both, nested("n1", "WAITING_FOR_INPUT"))).toEqual(person);
  expect(waitOf(both, nested("n2", "RUNNING"))).toEqual(work); // its stream does not say that it waits
  expect(waitOf(both, nested("n3", "COMPLETED"))).toBeNull();
  expect(waitOf(both, { ...root("COMPLETED"), id: "r0" })).toBeNull();
  const again = view("QUEUED", { retry: { runId: "r1", at } });
  expect(waitOf(again, { ...root("QUEUED"), id: "r2" })).toBeNull(); // it waits for the thread
  expect(waitOf(again, root("QUEUED"))).not.toBeNull();
});

test("a view that is older than the list cannot tell of its wait", () => {
  const listed = { threadId: "t1", updatedAt: "2026-01-01T12:00:05.25Z", run: { id: "r1", steps: 1, attempts: 1 } };
  const read = (updatedAt: string, steps: number, attempts: number) =>
    ({
      thread: { ...emptyView.thread, updatedAt },
      runs: [{ id: "r1", steps, attempts }],
    }) as unknown as ThreadView;
  expect(isOlder(read("2026-01-01T12:00:05.25Z", 1, 1), listed)).toBe(false);
  expect(isOlder(read("2026-01-01T12:00:05.3Z", 1, 2), listed)).toBe(false);
  expect(isOlder(read("2026-01-01T12:00:05Z", 1, 1), listed)).toBe(true);
  expect(isOlder(read("2026-01-01T12:00:06Z", 0, 1), listed)).toBe(true);
  expect(isOlder(read("2026-01-01T12:00:06Z", 1, 0), listed)).toBe(true);
  expect(isOlder(read("2026-01-01T12:00:05Z", 0, 0), { threadId: "t1" })).toBe(false);
});

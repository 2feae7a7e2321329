import { describe, expect, test } from "vitest";
import { snapshotOf } from "../testing/index.js";
import type { Frame, Message, Snapshot } from "../wire.js";
import { emptyView, reduce, withOlder } from "./reduce.js";

const message = (id: string, fields: Partial<Message> = {}): Message => ({
  id,
  threadId: "t1",
  role: "user",
  content: id,
  createdAt: "2026-11-21T09:30:00Z",
  agentId: null,
  ...fields,
});
const item = (fields: Record<string, unknown>): Frame =>
  ({ kind: "stream", streamId: "r1:1", item: fields }) as unknown as Frame;
const event = (seq: number, type: string, payload: unknown): Frame =>
  ({
    kind: "thread",
    event: { threadId: "t1", seq, type, payload, createdAt: "2026-11-21T09:30:00Z", runId: "r1" },
  }) as unknown as Frame;
const text = (n: number, delta: string, agent?: string): Frame => {
  const said = { type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta };
  const offset = `1-${n}`;
  return item(agent ? { type: "SUBAGENT_EVENT", subagentId: agent, event: said, offset } : { ...said, offset });
};

describe("what has not changed", () => {
  const messages = Array.from({ length: 1_000 }, (_, i) => message(`m${i}`));
  const view = reduce(emptyView, snapshotOf("t1", { messages, runs: [{ id: "r1", state: "RUNNING" }] as never }));

  test("stays the same object when something is said", () => {
    const one = reduce(reduce(view, text(1, "a")), text(2, "b", "n1"));
    const two = reduce(one, text(3, "c"));
    for (const key of ["thread", "messages", "parks", "runs", "queue", "pending", "providerWaits"] as const) {
      expect(two[key]).toBe(one[key]);
    }
    expect(two.drafts.map((d) => d.content)).toEqual(["ac", "b"]);
    expect(two.drafts[0]).not.toBe(one.drafts[0]);
    expect(two.drafts[1]).toBe(one.drafts[1]);
  });

  test("stays when a step is saved: the draft becomes the message", () => {
    const one = reduce(reduce(view, text(1, "a")), text(2, "b", "n1"));
    const two = reduce(one, item({ type: "STEP_FINISHED", step: 1, agentId: null, offset: "1-3" }));
    expect(two.messages.slice(0, -1).every((m, i) => m === view.messages[i])).toBe(true);
    expect(two.messages.at(-1)).toBe(one.drafts[0]);
    expect(two.drafts).toEqual([one.drafts[1]]);
  });

  test("stays when a snapshot says the same", () => {
    const again: Snapshot = JSON.parse(
      JSON.stringify(snapshotOf("t1", { messages, runs: [{ id: "r1", state: "RUNNING" }] as never })),
    );
    const two = reduce(view, again);
    expect(two.messages).toBe(view.messages);
    expect(two.runs).toBe(view.runs);
    const changed = again.messages.map((m, i) => (i === 500 ? { ...m, content: "other" } : m));
    const three = reduce(view, { ...again, messages: changed });
    expect(three.messages.filter((m, i) => m !== view.messages[i]).length).toBe(1);
  });

  test("stays when a snapshot of one run corrects others", () => {
    const snapshot = {
      ...snapshotOf("t1"),
      afterMessageId: "m10",
      messages: [message("a1", { role: "assistant", runId: "r1" })],
    };
    const two = reduce(view, { kind: "snapshot", snapshot });
    expect(two.messages.length).toBe(1_001);
    expect(two.messages.filter((m) => m.id !== "a1").every((m, i) => m === view.messages[i])).toBe(true);
  });

  test("stays when it comes again, or is not known", () => {
    const one = reduce(reduce(view, event(1, "RUN_STARTED", { runId: "r1", streamId: "r1:1" })), text(5, "a"));
    expect(reduce(one, text(5, "a"))).toBe(one);
    expect(reduce(one, text(4, "a"))).toBe(one);
    expect(reduce(one, event(1, "RUN_STARTED", { runId: "r1", streamId: "r1:1" }))).toBe(one);
    expect(reduce(one, { kind: "news" } as never)).toBe(one);
  });

  test("stays when older messages come before it", () => {
    const two = withOlder(view, [message("older"), message("m0")]);
    expect(two.messages[0]?.id).toBe("older");
    expect(two.messages.slice(1).every((m, i) => m === view.messages[i])).toBe(true);
    expect(withOlder(view, [message("m0")])).toBe(view);
  });
});

describe("what cannot be read", () => {
  test.each([
    ["no payload", event(1, "MESSAGES_DROPPED", null)],
    ["a payload of another form", event(1, "STATE_CHANGE", 3)],
    ["no item", { kind: "stream", streamId: "r1:1", item: null } as never],
    ["an item of another form", item({ type: "SUBAGENT_EVENT", event: 3, offset: "1-1" })],
    ["no snapshot", { kind: "snapshot", snapshot: null } as never],
    ["no event", { kind: "thread" } as never],
  ])("changes nothing: %s", (_, frame) => {
    const view = reduce(emptyView, snapshotOf("t1", { messages: [message("m1")] }));
    expect(reduce(view, frame).messages).toBe(view.messages);
  });
});

// Hosts of the contract leave fields out, or send null.
describe("another host", () => {
  test("may leave out what it does not have", () => {
    const snapshot = {
      thread: { id: "t1", state: "RUNNING" },
      messages: [message("m1")],
      runs: null,
      lastEventSeq: 3,
      activeEvents: null,
      stream: null,
    };
    let view = reduce(emptyView, snapshot as never);
    expect(view).toMatchObject({ cursor: "3 - -", runs: [], parks: [], queue: [] });
    view = reduce(
      view,
      event(4, "INPUT_REQUIRED", {
        toolCallId: "c1",
        toolName: "send",
        arguments: {},
        frames: null,
        reason: "approval",
      }),
    );
    expect(view.parks).toMatchObject([{ toolCallId: "c1", runId: "r1", agentId: null }]);
    view = reduce(view, event(0, "MESSAGE_APPENDED", { id: "m2", role: "user", content: "Hi", createdAt: "" }));
    expect(view.messages.at(-1)).toMatchObject({ id: "m2", threadId: "t1", agentId: null });
    view = reduce(view, event(0, "STATE_CHANGE", { state: "COMPLETED", runId: null, endedAt: null }));
    expect(view).toMatchObject({ thread: { state: "COMPLETED" }, parks: [] });
  });

  test("may have offsets of another form", () => {
    let view = emptyView;
    for (const offset of ["9", "10", "10", "9"])
      view = reduce(view, item({ type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: offset, offset }));
    expect(view.drafts[0]?.content).toBe("910");
    for (const offset of ["x", "y", "y"])
      view = reduce(view, {
        ...item({ type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: offset, offset }),
        streamId: "r1:2",
      } as Frame);
    expect(view.drafts[0]?.content).toBe("xy");
  });

  test("may count its offsets with numbers", () => {
    const said = (offset: unknown) =>
      item({ type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: `${offset} `, offset });
    let view = reduce(emptyView, {
      ...snapshotOf("t1"),
      stream: {
        streamId: "r1:1",
        runId: "r1",
        items: [(said(9) as unknown as { item: never }).item],
        end: null,
        offset: 9 as never,
      },
    });
    expect(view).toMatchObject({ cursor: "-1 r1:1 9", reading: { offset: "9" } });
    for (const offset of [9, 10, 11, 10]) view = reduce(view, said(offset));
    expect(view.drafts).toMatchObject([{ content: "9 10 11 ", id: "r1:1:9" }]);
    expect(view.reading).toMatchObject({ offset: "11", drafts: [{ began: "9" }] });
  });

  test("may have offsets beyond the numbers of JavaScript", () => {
    let view = emptyView;
    for (const n of ["9223372036854775806", "9223372036854775807", "9223372036854775806"]) {
      view = reduce(view, item({ type: "TEXT_MESSAGE_CONTENT", messageId: "b", delta: n.at(-1), offset: `${n}-${n}` }));
    }
    expect(view.drafts[0]?.content).toBe("67");
  });
});

test("a state that says nothing new leaves everything the same object", () => {
  const payload = { state: "RUNNING", runId: "r1", usage: { inputTokens: 1 } };
  const frame = {
    kind: "thread",
    event: { threadId: "t1", seq: 0, type: "STATE_CHANGE", payload },
  } as unknown as Frame;
  const before = reduce(emptyView, frame);
  const after = reduce(before, structuredClone(frame));
  for (const key of Object.keys(before) as (keyof typeof before)[]) expect(after[key], key).toBe(before[key]);
});

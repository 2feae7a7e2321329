// Items of a run stream.
import { isAfter } from "../cursor.js";
import type { ThreadView } from "../view.js";
import { answered } from "./answer.js";
import { type AnyItem, isContent, messagesOf, runOfStream, withContent, withDrafts } from "./draft.js";
import { changedRun, newRun, parkedNested, withRun } from "./run.js";
import { without } from "./share.js";
import { came } from "./wait.js";

/** The position of an item. Some hosts count with numbers. */
const offsetOf = (item: AnyItem | undefined) => String(item?.offset ?? "");

/** Whether the view has an item of a stream. */
export function hasItem(view: ThreadView, streamId: string, item: AnyItem | undefined): boolean {
  const offset = offsetOf(item);
  return streamId === view.reading.streamId && offset !== "" && !isAfter(offset, view.reading.offset);
}

/** The view after an item that it does not have. */
export function withItem(view: ThreadView, streamId: string, item: AnyItem): ThreadView {
  const offset = offsetOf(item);
  let next = view;
  if (streamId !== view.reading.streamId) {
    next = withDrafts(view, []);
    next = { ...next, providerWaits: [], reading: { ...next.reading, streamId, offset: "" } };
  }
  const after = apply(next, streamId, { ...item, offset });
  return offset ? { ...after, reading: { ...after.reading, offset } } : after;
}

function apply(view: ThreadView, streamId: string, item: AnyItem): ThreadView {
  const agentId = typeof item.agentId === "string" ? item.agentId : "";
  switch (item.type) {
    case "STEP_FINISHED":
      return came(used(saved(view, agentId), agentId, streamId, item), agentId);
    case "WAITING_FOR_PROVIDER": {
      const others = view.providerWaits.filter((w) => (w.agentId ?? "") !== agentId);
      return { ...view, providerWaits: [...others, { agentId: agentId || null, limit: String(item.limit) }] };
    }
    case "RUN_FINISHED":
    case "RUN_ERROR": {
      const runId = runOfStream(streamId);
      const next = { ...withDrafts(view, []), providerWaits: [] }; // what is not saved is gone, or comes with a snapshot
      return answered(parkedNested(next, runId, item.status), runId, item.text);
    }
    case "SUBAGENT_STARTED":
      return startedNested(view, streamId, item);
    case "SUBAGENT_FINISHED":
      return finishedNested(view, item);
    case "SUBAGENT_EVENT": {
      const inner = item.event as AnyItem;
      return content(view, String(item.subagentId), streamId, { ...inner, offset: item.offset ?? "" });
    }
    default:
      return content(view, "", streamId, item);
  }
}

/** The view after something that an agent says. */
function content(view: ThreadView, agentId: string, streamId: string, item: AnyItem): ThreadView {
  if (!isContent(item.type)) return view;
  const result = item.type === "TOOL_CALL_RESULT" ? item.toolCallId : undefined;
  return came(withContent(view, agentId, streamId, item), agentId, result);
}

/** The view with messages of what an agent has said, because its step is finished. */
function saved(view: ThreadView, agentId: string): ThreadView {
  const draft = view.reading.drafts.find((d) => d.agentId === agentId);
  if (!draft) return view;
  const messages = [...view.messages, ...messagesOf(draft, view.thread.id)];
  return withDrafts(
    { ...view, messages },
    view.reading.drafts.filter((d) => d !== draft),
  );
}

/**
 * The view with what a step has used, which counts for its run and for the dispatched one. A run that has the step
 * already has its usage too, such as that of a snapshot, or after the results of calls that have waited.
 */
function used(view: ThreadView, agentId: string, streamId: string, item: AnyItem): ThreadView {
  const root = runOfStream(streamId);
  const run = view.runs.find((r) => r.id === (agentId || root));
  const step = Number(item.step);
  if (!run || !(step > run.steps)) return view;
  const counted = changedRun(added(view, run.id, item.usage), run.id, { steps: step });
  return agentId ? added(counted, root, item.usage) : counted;
}

const counts = ["inputTokens", "cachedInputTokens", "outputTokens", "totalTokens"] as const;

/** The view with the tokens of a run, and more. The end of a run says what all of its steps have used. */
function added(view: ThreadView, id: string, usage: unknown): ThreadView {
  const run = view.runs.find((r) => r.id === id);
  const more = (usage ?? {}) as Partial<Record<(typeof counts)[number], number>>;
  return run && !run.endedAt
    ? changedRun(view, id, Object.fromEntries(counts.map((c) => [c, (run[c] ?? 0) + (more[c] ?? 0)])))
    : view;
}

function startedNested(view: ThreadView, streamId: string, item: AnyItem): ThreadView {
  const id = String(item.subagentId);
  if (view.runs.some((r) => r.id === id)) return changedRun(view, id, { state: "RUNNING" });
  return withRun(view, {
    ...newRun(id, view.thread.id),
    parentRunId: String(item.parentRunId ?? runOfStream(streamId)),
    ...(item.parentToolCallId != null && { parentToolCallId: String(item.parentToolCallId) }),
    depth: Number(item.depth ?? 1),
    agent: String(item.name ?? ""),
    state: "RUNNING",
  });
}

const endStates = { completed: "COMPLETED", failed: "FAILED", cancelled: "CANCELLED" } as const;

/** The view after the end of a nested run. What it said after its last finished step was not saved. */
function finishedNested(view: ThreadView, item: AnyItem): ThreadView {
  const id = String(item.subagentId);
  const next = came(
    withDrafts(
      view,
      without(view.reading.drafts, (d) => d.agentId === id),
    ),
    id,
  );
  const run = next.runs.find((r) => r.id === id);
  const state = endStates[item.status as keyof typeof endStates] ?? run?.state;
  return run ? changedRun(next, id, { state, error: item.error as string | undefined }) : next;
}

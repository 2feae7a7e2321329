// Items of a run stream.
import { isAfter } from "../cursor.js";
import { type Content, contentOf } from "../fold/content.js";
import { type AnyItem, agentOf, innerOf, runOfStream } from "../fold/item.js";
import { having, put, without } from "../fold/share.js";
import { messagesOf, stepAfter } from "../fold/step.js";
import type { ThreadView, ViewMessage } from "../view.js";
import { reads, withDrafts } from "./draft.js";
import { answered } from "./entry.js";
import { changedRun, newRun, parkedNested, withRun } from "./run.js";
import { noProviderWait } from "./wait.js";

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
    next = { ...reads(withDrafts(view, []), { streamId, offset: "" }), providerWaits: [] };
  }
  const after = apply(next, streamId, { ...item, offset });
  return offset ? reads(after, { offset }) : after;
}

function apply(view: ThreadView, streamId: string, outer: AnyItem): ThreadView {
  const item = innerOf(outer);
  const agentId = agentOf(outer);
  const content = contentOf(item);
  if (content) return withContent(view, item === outer ? "" : agentId, streamId, item.offset ?? "", content);
  switch (outer.type) {
    case "STEP_FINISHED":
      return noProviderWait(used(saved(view, agentId), agentId, streamId, item), agentId);
    case "WAITING_FOR_PROVIDER": {
      const { providerWaits: others } = noProviderWait(view, agentId);
      return { ...view, providerWaits: [...others, { agentId: agentId || null, limit: String(item.limit) }] };
    }
    case "RUN_FINISHED":
    case "RUN_ERROR": {
      const runId = runOfStream(streamId);
      const next = { ...withDrafts(view, []), providerWaits: [] }; // what is not saved is gone, or comes with a snapshot
      return answered(parkedNested(next, runId, item.status), runId, item.text);
    }
    case "SUBAGENT_STARTED":
      return startedNested(view, agentId, streamId, item);
    case "SUBAGENT_FINISHED":
      return finishedNested(view, agentId, item);
    default:
      return view;
  }
}

/** The view after content of an agent. A result ends the wait of its call. */
function withContent(view: ThreadView, agentId: string, streamId: string, offset: string, c: Content): ThreadView {
  const { drafts } = view.reading;
  const known = drafts.find((d) => d.agentId === agentId);
  const draft = stepAfter(known ?? { agentId, streamId, parts: [], began: "", results: [], landed: "" }, offset, c);
  const now = draft === known ? drafts : put(drafts, draft, (d) => d === known);
  const pending = without(view.pending, (p) => c.type === "tool-result" && p.toolCallId === c.id);
  return noProviderWait(having(withDrafts(view, now), { pending }), agentId);
}

/** The view with messages of what an agent has said, because its step is finished. */
function saved(view: ThreadView, agentId: string): ThreadView {
  const { drafts } = view.reading;
  const draft = drafts.find((d) => d.agentId === agentId);
  if (!draft) return view;
  const messages = [...view.messages, ...messagesOf(draft, view.thread.id)];
  return withDrafts(
    { ...view, messages },
    without(drafts, (d) => d === draft),
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

function startedNested(view: ThreadView, id: string, streamId: string, item: AnyItem): ThreadView {
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
function finishedNested(view: ThreadView, id: string, item: AnyItem): ThreadView {
  const drafts = without(view.reading.drafts, (d) => d.agentId === id);
  const next = noProviderWait(withDrafts(view, drafts), id);
  const run = next.runs.find((r) => r.id === id);
  const state = endStates[item.status as keyof typeof endStates] ?? run?.state;
  return run ? changedRun(next, id, { state, error: item.error as string | undefined }) : next;
}

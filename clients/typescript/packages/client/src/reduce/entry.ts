// Entries of the record, and notices.
import { type AnyEvent, endedOf } from "../fold/entry.js";
import { having, merged, same, shared, without } from "../fold/share.js";
import type { ThreadView, ViewMessage } from "../view.js";
import type { Content, QueuedRun, State, StateChange } from "../wire.js";
import { isActive, isOver } from "../wire.js";
import { reads, withDrafts } from "./draft.js";
import { parkedNested, withRunFields } from "./run.js";
import { waitOnly, withWait } from "./wait.js";

/** The view after an entry that it does not have, or a notice. */
export function withEvent(view: ThreadView, e: AnyEvent): ThreadView {
  const seq = e.seq ?? 0;
  const named = view.thread.id || !e.threadId ? view : { ...view, thread: { ...view.thread, id: e.threadId } };
  const next = apply(named, e);
  if (seq <= 0) return next;
  return reads({ ...next, thread: merged(next.thread, { updatedAt: e.createdAt ?? next.thread.updatedAt }) }, { seq });
}

function apply(view: ThreadView, e: AnyEvent): ThreadView {
  const p = e.payload;
  switch (e.type) {
    case "STATE_CHANGE":
      return withState(view, p);
    case "MESSAGE_APPENDED":
      return withTurn(view, { threadId: view.thread.id, agentId: null, ...p });
    case "THREAD_DELETED":
      return { ...view, deleted: true };
    case "RUN_STARTED": {
      const runId = p.runId ?? e.runId ?? "";
      const next = withWait(waitOnly(onStream(view, p.streamId ?? ""), runId), e);
      return startedRun(next, runId, p, e.createdAt);
    }
    case "RUN_ENDED":
      return endedRun(onStream(withWait(view, e), ""), e);
    case "MESSAGES_DROPPED": {
      const at = view.messages.findIndex((m) => m.id === p.fromMessageId); // -1: older than all of the view
      return waitOnly(withDrafts({ ...view, messages: view.messages.slice(0, Math.max(0, at)) }, []), "");
    }
    case "STEERED": {
      const queue = without(view.queue, (q) => q.runId === p.steerRunId);
      if (!p.steerRunId) return view;
      const ended = { state: "COMPLETED", stopReason: "steered" } as const;
      const isKnown = view.runs.some((run) => run.id === p.steerRunId);
      const fields = isKnown ? ended : { ...ended, enqueuedAt: p.enqueuedAt };
      return withRunFields({ ...view, queue }, p.steerRunId, fields, e.createdAt);
    }
    case "TEXT_RESULT":
      return answered(view, e.runId || view.reading.runId || "", p.text);
    default:
      return withWait(view, e);
  }
}

/** The view at the beginning of a stream. */
function onStream(view: ThreadView, streamId: string): ThreadView {
  return reads(withDrafts(view, []), { streamId, offset: "" });
}

/**
 * The view after the beginning of a segment. The state of the run that a STATE_CHANGE has named comes with those
 * notices. A client that was away gets no state of the runs that began and ended meanwhile, but their entries.
 */
function startedRun(view: ThreadView, runId: string, p: AnyEvent["payload"], at: string | undefined): ThreadView {
  if (!runId) return view;
  const run = view.runs.find((r) => r.id === runId);
  const hasState = runId === view.reading.runId || (run?.state && !isActive(run.state as State));
  // Until a worker claims it, a run has the time of its start.
  const begins = !(p.segment > 1) && (!run?.startedAt || run.state === "QUEUED");
  const fields = { ...(!hasState && { state: "RUNNING" as const }), ...(begins && { startedAt: at }) };
  return withRunFields(view, runId, run ? fields : { ...fields, enqueuedAt: p.enqueuedAt }, at);
}

/**
 * The view after the end of a segment, which ends its run if it is finished, stopped, or failed without another attempt.
 */
function endedRun(view: ThreadView, e: AnyEvent): ThreadView {
  const { runId, status, state, stopReason, error, expired } = endedOf(e);
  const next = parkedNested(view, runId, status);
  const run = next.runs.find((r) => r.id === runId);
  const present = runId === next.reading.runId;
  if (!runId || !isOver(state) || (present && (state === "FAILED" || !isActive(run?.state as State)))) return next;
  if (run?.state === state) return next; // a snapshot says more
  const reason = state === "FAILED" ? stopReason : state === "CANCELLED" ? "cancelled" : (stopReason ?? "completed");
  return withRunFields(next, runId, { state, stopReason: reason, error, expired }, e.createdAt);
}

/** The view in another state. */
function withState(view: ThreadView, c: StateChange): ThreadView {
  const active = isActive(c.state);
  const runId = c.runId ?? "";
  const changed = merged(view.thread, { state: c.state, expired: c.expired });
  const thread = same(view.thread, changed) ? view.thread : changed;
  let next: ThreadView = { ...view, thread, queue: queueOf(view.queue, c.queue ?? []) };
  next = !active ? waitOnly(next, "") : runId ? waitOnly(next, runId) : next;
  if (!runId) return next;
  next = reads(next, { runId });
  const run = next.runs.find((r) => r.id === runId);
  const cost = c.costs?.at(-1);
  return withRunFields(next, runId, {
    ...c.usage,
    ...(cost && { currency: cost.currency, costMicros: cost.micros }),
    state: c.state,
    stopReason: c.stopReason,
    error: c.error,
    expired: c.expired,
    enqueuedAt: c.enqueuedAt ?? run?.enqueuedAt,
    startedAt: c.startedAt ?? run?.startedAt,
    endedAt: c.endedAt,
  });
}

/** The queue with the turns that are known: only snapshots have them. */
function queueOf(old: readonly QueuedRun[], next: readonly QueuedRun[]): readonly QueuedRun[] {
  if (old.length === 0) return next.length === 0 ? old : next;
  const named = next.map((q) => {
    const content = q.content ?? old.find((o) => o.runId === q.runId)?.content;
    return content === undefined ? q : { ...q, content };
  });
  return shared(old, named, (q) => q.runId);
}

/** The view with a turn of the user, unless it has it, or the turn has no id. */
function withTurn(view: ThreadView, turn: ViewMessage): ThreadView {
  if (!turn.id) return view;
  const known = view.messages.some((m) => m.id === turn.id);
  const messages = known ? view.messages : [...view.messages, turn];
  const queue = turn.runId ? without(view.queue, (q) => q.runId === turn.runId) : view.queue;
  return having(view, { messages, queue });
}

/** The text of a message. */
export function textOf(content: Content | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

/** The view with the answer of an agent that does not stream, unless the last turn has it already. */
export function answered(view: ThreadView, runId: string, text: unknown): ThreadView {
  if (typeof text !== "string" || !text) return view;
  const own = view.messages.filter((m) => m.agentId == null);
  const turn = own.findLastIndex((m) => m.role === "user");
  if (own.slice(turn + 1).some((m) => m.role === "assistant" && textOf(m.content) === text)) return view;
  const id = `${runId}:${view.messages.length}`;
  const message = {
    id,
    threadId: view.thread.id,
    role: "assistant",
    content: text,
    ...(runId && { runId }),
    agentId: null,
  };
  return { ...view, messages: [...view.messages, message as ViewMessage] };
}

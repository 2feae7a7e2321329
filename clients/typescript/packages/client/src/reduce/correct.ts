// Snapshots: of the thread, and of one run.
import { cursorOf } from "../cursor.js";
import type { AnyItem } from "../fold/item.js";
import { shared } from "../fold/share.js";
import type { ThreadView, ViewMessage } from "../view.js";
import type { Snapshot } from "../wire.js";
import { reads } from "./draft.js";
import { withItem } from "./item.js";
import { byFamily, family, withRun } from "./run.js";
import { waitOnly, withWait } from "./wait.js";

/** The view of a snapshot of the thread. What is equal to a part of the old view is the same object. */
export function replacedBy(view: ThreadView, s: Snapshot): ThreadView {
  const { deleted: _, ...old } = view;
  return caughtUp(
    {
      ...old,
      thread: s.thread as ThreadView["thread"],
      messages: shared<ViewMessage>(view.messages, s.messages ?? [], (m) => m.id),
      runs: shared(view.runs, byFamily(s.runs ?? []), (r) => r.id),
      queue: s.queue ?? [],
      cursor: cursorOf(s),
      reading: { seq: 0, streamId: "", offset: "", drafts: [] },
    },
    s,
    s.lastEventSeq ?? -1,
  );
}

/** The view after the open questions and the stream of a snapshot. */
function caughtUp(view: ThreadView, s: Snapshot, seq: number): ThreadView {
  const none: Partial<ThreadView["reading"]> = { seq, streamId: "", offset: "", drafts: [] };
  let next = reads({ ...waitOnly(view, ""), drafts: [], providerWaits: [] }, none);
  for (const e of s.activeEvents ?? []) next = attempt(next, (v) => withWait(v, e));
  if (s.stream) {
    const { streamId, items, offset } = s.stream;
    for (const item of items ?? []) next = attempt(next, (v) => withItem(v, streamId, item as unknown as AnyItem));
    if (offset && next.reading.streamId === streamId) next = reads(next, { offset: `${offset}` });
  }
  const parks = shared(view.parks, next.parks, (p) => p.toolCallId);
  return { ...next, parks };
}

/** The result of a function, or the value itself if it cannot be used: the rest of a snapshot is still right. */
export function attempt<T>(value: T, apply: (value: T) => T): T {
  try {
    return apply(value);
  } catch {
    return value;
  }
}

/** The view after a snapshot of one run, which has the messages of this run and of those nested in it. */
export function corrected(view: ThreadView, s: Snapshot): ThreadView {
  let next: ThreadView = { ...view, thread: s.thread as ThreadView["thread"], queue: s.queue ?? [] };
  for (const run of (s.runs ?? []).toReversed()) next = withRun(next, run);
  const after = s.afterMessageId ?? "";
  const turn = view.messages.findIndex((m) => m.id === after);
  const of = family(next.runs, runOf(s, turn < 0 ? undefined : view.messages[turn]));
  const saved = new Set(s.messages.map((m) => m.id));
  const kept: ViewMessage[] = view.messages.slice(0, turn + 1);
  let at = turn < 0 && after !== "" ? -1 : kept.length; // -1: the view does not go back so far
  for (const m of view.messages.slice(turn + 1)) {
    if (saved.has(m.id)) continue; // a message that was put into the run has the same id in the snapshot
    const isTurn = m.role === "user" && m.agentId == null;
    if (isTurn || !(of.has(m.runId ?? "") || of.has(m.agentId ?? ""))) kept.push(m);
    else if (at < 0) at = kept.length;
  }
  kept.splice(at < 0 ? kept.length : at, 0, ...s.messages);
  const messages = shared<ViewMessage>(view.messages, kept, (m) => m.id);
  return caughtUp({ ...next, messages }, s, next.reading.seq);
}

/** The run that a snapshot of one run is about, `""` if nothing tells. */
function runOf(s: Snapshot, turn: ViewMessage | undefined): string {
  return turn?.runId || s.stream?.runId || s.messages.find((m) => m.agentId == null)?.runId || "";
}

import type { AnyItem } from "../fold/item.js";
import type { ThreadView, ViewMessage } from "../view.js";
import type { Frame, Snapshot } from "../wire.js";
import { attempt, corrected, replacedBy } from "./correct.js";
import { withEvent } from "./entry.js";
import { hasItem, withItem } from "./item.js";

/** A view of nothing, for a follower without a cursor. */
export const emptyView: ThreadView = {
  thread: { id: "", state: "", model: "", title: "" },
  messages: [],
  drafts: [],
  parks: [],
  pending: [],
  runs: [],
  queue: [],
  retry: null,
  providerWaits: [],
  cursor: null,
  reading: { seq: 0, streamId: "", offset: "", drafts: [] },
};

/**
 * Returns what is shown after a snapshot or a frame. It is pure: the same view and the same frame give the same
 * result, and the view does not change. What has not changed is the same object in the result.
 *
 * Frames come in the order in which a follower yields them. A frame that the view already has changes nothing, nor does
 * one of an unknown kind, or one that cannot be read.
 */
export function reduce(view: ThreadView, next: Snapshot | Frame): ThreadView {
  if ("kind" in next && has(view, next)) return view;
  const after = attempt(view, (v) => applied(v, "kind" in next ? next : { kind: "snapshot", snapshot: next }));
  const cursor = ("kind" in next && next.cursor) || after.cursor;
  return cursor === after.cursor ? after : { ...after, cursor };
}

/** Whether the view has what a frame says. A frame that came before does not move the cursor back. */
function has(view: ThreadView, frame: Frame): boolean {
  if (frame.kind === "thread") return frame.event?.seq > 0 && frame.event.seq <= view.reading.seq;
  return frame.kind === "stream" && hasItem(view, frame.streamId, frame.item as unknown as AnyItem);
}

function applied(view: ThreadView, frame: Frame): ThreadView {
  switch (frame.kind) {
    case "thread":
      return withEvent(view, frame.event);
    case "stream":
      return withItem(view, frame.streamId, frame.item as unknown as AnyItem);
    case "snapshot":
      return frame.snapshot.afterMessageId == null ? replacedBy(view, frame.snapshot) : corrected(view, frame.snapshot);
    default:
      return view;
  }
}

/** The view with older messages before its own, without those that it has. */
export function withOlder(view: ThreadView, older: readonly ViewMessage[]): ThreadView {
  const known = new Set(view.messages.map((m) => m.id));
  const added = older.filter((m) => !known.has(m.id));
  return added.length > 0 ? { ...view, messages: [...added, ...view.messages] } : view;
}

import type { ThreadView } from "../view.js";
import type { Frame, Snapshot } from "../wire.js";

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

/** Returns what is shown after a snapshot or a frame. It is pure, and never throws for what a server may send. */
export function reduce(view: ThreadView, _next: Snapshot | Frame): ThreadView {
  return view;
}

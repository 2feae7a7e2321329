// What agents say before their steps are saved.
import { messagesOf } from "../fold/step.js";
import type { Draft, ThreadView, ViewMessage } from "../view.js";

/** The view with other drafts. */
export function withDrafts(view: ThreadView, drafts: readonly Draft[]): ThreadView {
  if (drafts === view.reading.drafts) return view;
  const messages = drafts.length > 0 ? drafts.flatMap((d) => messagesOf(d, view.thread.id)) : none;
  return { ...view, reading: { ...view.reading, drafts }, drafts: messages };
}

const none: readonly ViewMessage[] = [];

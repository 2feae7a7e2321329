// What agents say before their steps are saved.

import { having } from "../fold/share.js";
import { messagesOf } from "../fold/step.js";
import type { Draft, ThreadView, ViewMessage } from "../view.js";

/** The view at another place of what it reads. */
export const reads = (view: ThreadView, fields: Partial<ThreadView["reading"]>): ThreadView =>
  having(view, { reading: having(view.reading, fields) });

/** The view with other drafts. */
export function withDrafts(view: ThreadView, drafts: readonly Draft[]): ThreadView {
  if (drafts === view.reading.drafts) return view;
  const messages = drafts.length > 0 ? drafts.flatMap((d) => messagesOf(d, view.thread.id)) : none;
  return { ...reads(view, { drafts }), drafts: messages };
}

const none: readonly ViewMessage[] = [];

"use client";

import { useCallback } from "react";
import { type FromThread, useStore } from "./context.js";
import { type MessageFilter, presenterOf } from "./present.js";
import { useSelected } from "./select.js";
import type { ShownMessage } from "./show.js";

/**
 * Returns the ids of the messages to show, in order: those of the thread, those that are being streamed, and the turns
 * of this client that no message has yet. Results of tools have no messages here: they are parts of the calls.
 *
 * A token does not render its component: show each message in a component of its own, with {@link useMessage}.
 */
export function useMessages(options: FromThread & MessageFilter = {}): readonly string[] {
  const store = useStore(options);
  const { agentId = null } = options;
  const ids = useCallback(
    (state: ReturnType<typeof store.getSnapshot>) => presenterOf(store).ids(state, { agentId }),
    [store, agentId],
  );
  return useSelected(store, ids);
}

/** Returns a message, or null if the thread has none of this id. Only what changes the message renders its component. */
export function useMessage(id: string, from: FromThread = {}): ShownMessage | null {
  const store = useStore(from);
  const message = useCallback(
    (state: ReturnType<typeof store.getSnapshot>) => presenterOf(store).message(state, id),
    [store, id],
  );
  return useSelected(store, message);
}

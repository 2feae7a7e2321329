"use client";

import { isActive, type SpoolError, type State, type ThreadState, type ThreadStore } from "@spool/client";
import type { ReactNode } from "react";
import { type FromThread, ThreadContext, useSpool, useStore } from "./context.js";
import { useSelected } from "./select.js";
import { type ThreadOptions, useOwnedStore } from "./thread-owner.js";

/** The actions of a thread, which need no `this`. */
export type ThreadActions = Omit<ThreadStore, "getSnapshot" | "subscribe" | "close">;

/** A thread: its store, its actions, and what seldom changes of its state. */
export interface Thread extends ThreadActions {
  readonly store: ThreadStore;
  /** `null`: a new thread, whose first turn has not been sent. */
  readonly threadId: string | null;
  /** The state of the thread's run. */
  readonly state: State;
  /** A run is queued, running or waiting for an answer. */
  readonly active: boolean;
  /** The first snapshot has not come. */
  readonly loading: boolean;
  /** The newest failure of an action or of the connection. */
  readonly error: SpoolError | null;
}

/**
 * Returns the thread of the nearest SpoolThread or SpoolProvider. With an id or options, it returns a thread that
 * belongs to this component: give it to other hooks as `{ thread }`, or use `SpoolThread`.
 *
 * A token does not render its component.
 */
export function useThread(which?: string | ThreadOptions): Thread {
  const { client } = useSpool();
  const owned = useOwnedStore(client, typeof which === "string" ? { threadId: which } : (which ?? null));
  const store = useStore({ thread: owned ?? undefined });
  const seldom = useSelected(store, seldomOf, sameSeldom);
  return { store, ...actionsOf(store), ...seldom };
}

/**
 * Returns the actions of a thread: the same object each time. Nothing of the thread renders its component, so that a button
 * in each message costs nothing when a run begins or ends.
 */
export function useThreadActions(from: FromThread = {}): ThreadActions {
  return actionsOf(useStore(from));
}

/** Has another thread than the provider's for the hooks below it. */
export function SpoolThread({ children, ...options }: ThreadOptions & { children?: ReactNode }): ReactNode {
  const { client } = useSpool();
  const store = useOwnedStore(client, options);
  return <ThreadContext.Provider value={store}>{children}</ThreadContext.Provider>;
}

function seldomOf({ threadId, view, loading, error }: ThreadState) {
  return { threadId, state: view.thread.state, active: isActive(view.thread.state), loading, error };
}

function sameSeldom(a: ReturnType<typeof seldomOf>, b: ReturnType<typeof seldomOf>): boolean {
  return a.threadId === b.threadId && a.state === b.state && a.loading === b.loading && a.error === b.error;
}

const actions = new WeakMap<ThreadStore, ThreadActions>();

/** Returns the actions of a store: the same functions on each render. */
export function actionsOf(store: ThreadStore): ThreadActions {
  let bound = actions.get(store);
  if (bound === undefined) {
    bound = {
      send: (prompt, options) => store.send(prompt, options),
      steer: (prompt, options) => store.steer(prompt, options),
      retry: () => store.retry(),
      edit: (messageId, prompt, options) => store.edit(messageId, prompt, options),
      regenerate: (messageId, options) => store.regenerate(messageId, options),
      stop: (runId) => store.stop(runId),
      respond: (toolCallId, answer) => store.respond(toolCallId, answer),
      restoreBranch: (branchId) => store.restoreBranch(branchId),
      loadOlder: () => store.loadOlder(),
      loadUsage: () => store.loadUsage(),
      loadBranches: () => store.loadBranches(),
      select: (threadId) => store.select(threadId),
      newThread: () => store.newThread(),
      delete: () => store.delete(),
      refresh: () => store.refresh(),
      dismissError: () => store.dismissError(),
    };
    actions.set(store, bound);
  }
  return bound;
}

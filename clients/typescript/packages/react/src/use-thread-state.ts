"use client";

import type { Connection, SpoolError, ThreadState } from "@spool/client";
import { type Activity, activityOf, sameActivity } from "./activity.js";
import { type FromThread, useSpool, useStore } from "./context.js";
import { useSelected } from "./select.js";

/** Options of {@link useThreadState}. */
export interface ThreadStateOptions<T> extends FromThread {
  /** Whether two values read the same. Defaults to `Object.is`. */
  equal?: (a: T, b: T) => boolean;
}

/**
 * Returns what a selector makes of the thread's state. The component renders again when that is another value. The
 * second argument is an equality, or options.
 */
export function useThreadState<T>(
  selector: (state: ThreadState) => T,
  options: ThreadStateOptions<T> | ((a: T, b: T) => boolean) = {},
): T {
  const { equal, thread } = typeof options === "function" ? { equal: options, thread: undefined } : options;
  return useSelected(useStore({ thread }), selector, equal);
}

/** How the connection is, and what was wrong last: with the connection, as long as it is not open, or with an action. */
export interface ConnectionState {
  readonly connection: Connection;
  readonly error: SpoolError | null;
}

/** Returns how the connection of the thread is. */
export function useConnection(from: FromThread = {}): ConnectionState {
  return useSelected(useStore(from), connectionOf, sameConnection);
}

function connectionOf({ connection, connectionError, error }: ThreadState): ConnectionState {
  return { connection, error: connectionError ?? error };
}

function sameConnection(a: ConnectionState, b: ConnectionState): boolean {
  return a.connection === b.connection && a.error === b.error;
}

/** Returns what the thread is doing, in the words of the provider's labels. */
export function useActivity(from: FromThread = {}): Activity {
  const { labels } = useSpool();
  return useSelected(useStore(from), (state) => activityOf(state, labels), sameActivity);
}

"use client";

import type { Client, ThreadStore } from "@spool/client";
import { createContext, useContext } from "react";
import type { Labels } from "./activity.js";
import type { OwnThreads } from "./own-threads.js";

/** What a provider has for all hooks below it. */
export interface Spool {
  readonly client: Client;
  readonly labels: Labels;
  /** How often lists of threads are read again, in milliseconds. `false`: never. */
  readonly threadsRefreshMs: number | false;
}

export const SpoolContext = createContext<Spool | null>(null);

/** What the stores below a provider know of their threads. */
export const OwnThreadsContext = createContext<OwnThreads | null>(null);

/** The thread of the hooks below it. */
export const ThreadContext = createContext<ThreadStore | null>(null);

/** Returns the client, for calls that no hook makes, and the configuration of the provider. */
export function useSpool(): Spool {
  const spool = useContext(SpoolContext);
  if (spool === null) {
    throw new Error("hooks of @spool/react must be used below a SpoolProvider");
  }
  return spool;
}

/** Something that has a store: what {@link useThread} returns, or a store itself. */
export type ThreadSource = ThreadStore | { readonly store: ThreadStore };

/** Which thread a hook is about. */
export interface FromThread {
  /** Left out: that of the nearest SpoolThread or SpoolProvider. */
  thread?: ThreadSource | undefined;
}

/** Returns the store of the thread that a hook is about. */
export function useStore({ thread }: FromThread = {}): ThreadStore {
  const nearest = useContext(ThreadContext);
  const store = thread === undefined ? nearest : "store" in thread ? thread.store : thread;
  if (store === null) {
    throw new Error("hooks of @spool/react must be used below a SpoolProvider");
  }
  return store;
}

"use client";

import type { Thread, ThreadFilter } from "@spool/client";
import { useCallback, useContext, useMemo } from "react";
import { OwnThreadsContext, useSpool } from "./context.js";
import { type List, type ListOptions, useList } from "./use-list.js";

/** A list of threads, the most recently changed first. */
export interface ThreadList extends Omit<List<Thread>, "items"> {
  readonly threads: readonly Thread[];
  /** Deletes a thread. It leaves the list at once, and comes back if that fails. */
  remove(threadId: string): Promise<boolean>;
}

/** Options of {@link useThreads}. */
export interface ThreadListOptions extends Omit<ThreadFilter, "signal" | "before">, ListOptions {}

const idOf = (thread: Thread) => thread.id;

/**
 * Returns a list of threads that is read again from time to time, and when the page is shown again. What the threads that
 * this page shows tell of themselves is in it at once: a new one, its state and title, and its end.
 */
export function useThreads(options: ThreadListOptions = {}): ThreadList {
  const { client, threadsRefreshMs } = useSpool();
  const { manual, refreshMs = threadsRefreshMs, limit: pageSize, ...filter } = options;
  const key = JSON.stringify(filter);
  const read = useCallback(
    async (limit: number | undefined, before: string | undefined) => {
      const bounds = { ...(limit !== undefined && { limit }), ...(before !== undefined && { before }) };
      const { threads, next } = await client.threads({ ...(JSON.parse(key) as ThreadFilter), ...bounds });
      return { items: threads, ...(next !== undefined && { next }) };
    },
    [client, key],
  );
  const own = useContext(OwnThreadsContext);
  const known = useMemo(() => {
    if (own === null || manual === true) {
      return undefined;
    }
    return {
      get version() {
        return own.version;
      },
      subscribe: (listener: () => void) => own.subscribe(listener),
      // Only the server knows what a filter takes.
      amend: (items: readonly Thread[], since: number) => (key === "{}" ? own.amend(items, since) : null),
    };
  }, [own, manual, key]);
  const when = { ...(manual !== undefined && { manual }), refreshMs };
  const { list, without } = useList(read, idOf, pageSize, when, known);
  const remove = useCallback(
    async (threadId: string) => (await without([threadId], () => client.deleteThread(threadId))) !== null,
    [client, without],
  );
  const { items: threads, ...rest } = list;
  return { threads, ...rest, remove };
}

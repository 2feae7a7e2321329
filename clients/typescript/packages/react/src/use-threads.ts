"use client";

import type { Thread, ThreadFilter } from "@spool/client";
import { useCallback } from "react";
import { useSpool } from "./context.js";
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

/** Returns a list of threads that is read again from time to time, and when the page is shown again. */
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
  const { list, without } = useList(read, idOf, pageSize, { ...(manual !== undefined && { manual }), refreshMs });
  const remove = useCallback(
    async (threadId: string) => (await without([threadId], () => client.deleteThread(threadId))) !== null,
    [client, without],
  );
  const { items: threads, ...rest } = list;
  return { threads, ...rest, remove };
}

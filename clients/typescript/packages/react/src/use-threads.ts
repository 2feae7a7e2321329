"use client";

import { SpoolError, type Thread, type ThreadFilter } from "@spool/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { useSpool } from "./context.js";

/** A list of threads, the most recently changed first. */
export interface ThreadList {
  readonly threads: readonly Thread[];
  readonly loading: boolean;
  readonly error: SpoolError | null;
  /** There are more: see `loadMore`. */
  readonly hasMore: boolean;
  loadMore(): Promise<void>;
  /** Reads the list again, as far as it was read. */
  refresh(): Promise<void>;
  /** Deletes a thread. It leaves the list at once, and comes back if that fails. */
  remove(threadId: string): Promise<boolean>;
}

/** Options of {@link useThreads}. */
export interface ThreadListOptions extends Omit<ThreadFilter, "signal" | "before"> {
  /** Do not read anything before `refresh`. Defaults to false. */
  manual?: boolean;
  /** How often the list is read again, in milliseconds. `false`: never. Defaults to that of the provider. */
  refreshMs?: number | false;
}

interface Listed {
  threads: readonly Thread[];
  next?: string | undefined;
  loading: boolean;
  error: SpoolError | null;
}

/** The largest page that a server returns. */
const largest = 200;

/** Returns a list of threads that is read again from time to time, and when the page is shown again. */
export function useThreads(options: ThreadListOptions = {}): ThreadList {
  const { client, threadsRefreshMs } = useSpool();
  const { manual = false, refreshMs = threadsRefreshMs, ...filter } = options;
  const [listed, setListed] = useState<Listed>({ threads: [], loading: !manual, error: null });
  const key = JSON.stringify(filter);
  const state = useRef({ listed, newest: 0 });
  useEffect(() => {
    state.current.listed = listed;
  }, [listed]);

  const read = useCallback(
    async (more: boolean) => {
      const filter = JSON.parse(key) as ThreadFilter;
      const turn = ++state.current.newest;
      const { threads, next } = state.current.listed;
      setListed((now) => ({ ...now, loading: true }));
      try {
        const limit = more ? filter.limit : Math.min(Math.max(filter.limit ?? 0, threads.length), largest) || undefined;
        const page = await client.threads({
          ...filter,
          ...(limit !== undefined && { limit }),
          ...(more && next !== undefined && { before: next }),
        });
        if (turn === state.current.newest) {
          const known = new Set(more ? threads.map((thread) => thread.id) : []);
          const added = page.threads.filter((thread) => !known.has(thread.id));
          setListed({
            threads: more ? [...threads, ...added] : page.threads,
            next: page.next,
            loading: false,
            error: null,
          });
        }
      } catch (error) {
        if (turn === state.current.newest) {
          setListed((now) => ({ ...now, loading: false, error: asError(error) }));
        }
      }
    },
    [client, key],
  );
  const refresh = useCallback(() => read(false), [read]);
  const loadMore = useCallback(async () => {
    if (state.current.listed.next !== undefined) {
      await read(true);
    }
  }, [read]);
  const remove = useCallback(
    async (threadId: string) => {
      const before = state.current.listed.threads;
      state.current.newest++;
      setListed((now) => ({ ...now, threads: now.threads.filter((thread) => thread.id !== threadId), loading: false }));
      try {
        await client.deleteThread(threadId);
        return true;
      } catch (error) {
        setListed((now) => ({ ...now, threads: before, error: asError(error) }));
        return false;
      }
    },
    [client],
  );

  useEffect(() => {
    if (manual) {
      return undefined;
    }
    void refresh();
    const again = () => document.visibilityState === "visible" && void refresh();
    const timer = refreshMs === false ? undefined : setInterval(again, refreshMs);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, [manual, refreshMs, refresh]);
  const { threads, loading, error, next } = listed;
  return { threads, loading, error, hasMore: next !== undefined, loadMore, refresh, remove };
}

function asError(error: unknown): SpoolError {
  return error instanceof SpoolError ? error : new SpoolError("internal", String(error), { cause: error });
}

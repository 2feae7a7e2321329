"use client";

import { SpoolError } from "@spool/client";
import { useCallback, useEffect, useInsertionEffect, useRef, useState } from "react";

/** A list that is read in pages, and again from time to time. */
export interface List<T> {
  readonly items: readonly T[];
  readonly loading: boolean;
  /** Why the newest reading or change has failed. The items stay. */
  readonly error: SpoolError | null;
  /** There are more: see `loadMore`. */
  readonly hasMore: boolean;
  loadMore(): Promise<void>;
  /** Reads the list again, as far as it was read. */
  refresh(): Promise<void>;
}

/** When a list is read. */
export interface ListOptions {
  /** Do not read anything before `refresh`. Defaults to false. */
  manual?: boolean;
  /** How often the list is read again, in milliseconds. `false`: never. Defaults to that of the provider. */
  refreshMs?: number | false;
}

/** Reads a page: up to `limit` items behind `next`, which is that of the page before. */
export type ReadPage<T> = (
  limit: number | undefined,
  next: string | undefined,
) => Promise<{ items: readonly T[]; next?: string }>;

/** What is known of a list before it is read. */
export interface Known<T> {
  /** Grows with each change. */
  readonly version: number;
  subscribe(listener: () => void): () => void;
  /** Returns a list with what has changed since a version, or null if only the server can tell. */
  amend(items: readonly T[], since: number): readonly T[] | null;
}

interface Listed<T> {
  items: readonly T[];
  next: string | undefined;
  loading: boolean;
  error: SpoolError | null;
}

/** The largest page that a server returns. */
const largest = 200;

/**
 * Returns the list that a function reads, which has to be the same function until another list is wanted, and a function
 * that takes items out of the list while something is done, and puts them back if that fails.
 */
export function useList<T>(
  read: ReadPage<T>,
  idOf: (item: T) => string,
  pageSize: number | undefined,
  options: ListOptions,
  known?: Known<T>,
) {
  const { manual = false, refreshMs = false } = options;
  const [listed, setListed] = useState<Listed<T>>({ items: [], next: undefined, loading: !manual, error: null });
  const state = useRef({ listed, newest: 0, idOf });
  // Before anybody sees the list, and may ask for more of it.
  useInsertionEffect(() => {
    state.current.listed = listed;
    state.current.idOf = idOf;
  }, [listed, idOf]);

  const load = useCallback(
    async (more: boolean) => {
      const turn = ++state.current.newest;
      const { items, next } = state.current.listed;
      const since = known?.version ?? 0;
      setListed((now) => ({ ...now, loading: true }));
      try {
        const limit = more ? pageSize : Math.min(Math.max(pageSize ?? 0, items.length), largest) || undefined;
        const page = await read(limit, more ? next : undefined);
        if (turn === state.current.newest) {
          const own = new Set(more ? items.map(state.current.idOf) : []);
          const added = page.items.filter((item) => !own.has(state.current.idOf(item)));
          const all = more ? [...items, ...added] : page.items;
          setListed({ items: known?.amend(all, since) ?? all, next: page.next, loading: false, error: null });
        }
      } catch (error) {
        if (turn === state.current.newest) {
          setListed((now) => ({ ...now, loading: false, error: asError(error) }));
        }
      }
    },
    [read, pageSize, known],
  );
  const refresh = useCallback(() => load(false), [load]);
  const loadMore = useCallback(async () => {
    if (state.current.listed.next !== undefined) {
      await load(true);
    }
  }, [load]);
  const without = useCallback(async <R>(ids: readonly string[], act: () => Promise<R>): Promise<R | null> => {
    const gone = new Set(ids);
    const before = state.current.listed.items;
    state.current.newest++; // a page that is on its way may still have them
    setListed((now) => {
      const items = now.items.filter((item) => !gone.has(state.current.idOf(item)));
      return { ...now, items, loading: false, error: null };
    });
    try {
      return await act();
    } catch (error) {
      setListed((now) => ({ ...now, items: before, error: asError(error) }));
      return null;
    }
  }, []);

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

  useEffect(() => {
    return known?.subscribe(() => {
      const since = known.version - 1;
      if (known.amend(state.current.listed.items, since) === null) {
        void refresh();
      } else {
        setListed((now) => ({ ...now, items: known.amend(now.items, since) ?? now.items }));
      }
    });
  }, [known, refresh]);

  const { items, loading, error, next } = listed;
  const list: List<T> = { items, loading, error, hasMore: next !== undefined, loadMore, refresh };
  return { list, without };
}

function asError(error: unknown): SpoolError {
  return error instanceof SpoolError ? error : new SpoolError("internal", String(error), { cause: error });
}

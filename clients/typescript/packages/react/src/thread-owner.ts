"use client";

// The life of a store that a component owns.
import {
  type Client,
  createThreadStore,
  emptyView,
  reduce,
  type Snapshot,
  type ThreadStore,
  type ThreadStoreOptions,
} from "@spool/client";
import { useContext, useEffect, useLayoutEffect, useRef } from "react";
import { OwnThreadsContext } from "./context.js";
import type { OwnThreads } from "./own-threads.js";
import type { Persistence } from "./persistence.js";
import { begin } from "./select.js";

/** Options of a thread that a component shows. */
export interface ThreadOptions extends ThreadStoreOptions {
  /** Where the id of the thread is kept between reloads. `false`: nowhere. Defaults to false. */
  persistence?: Persistence | false;
  /** What `client.history()` has returned, such as on the server that renders the page. It is shown at once. */
  initialSnapshot?: Snapshot;
}

/** Servers have no layout, and say so. */
export const useEarlyEffect = typeof window === "undefined" ? useEffect : useLayoutEffect;

/**
 * Returns a store that lives as long as the component, or null for no options. It connects when a hook subscribes. A
 * component that is removed and comes back at once, as in StrictMode, keeps its connection.
 */
export function useOwnedStore(
  client: Client,
  options: ThreadOptions | null,
  given: OwnThreads | null = null,
): ThreadStore | null {
  const around = useContext(OwnThreadsContext);
  const latest = useRef(options);
  const made = useRef<ThreadStore | null>(null);
  if (made.current === null && options !== null) {
    made.current = create(client, options, () => latest.current, given ?? around);
  }
  const store = made.current;
  const closing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const threadId = options?.threadId ?? null;
  const wanted = useRef(threadId);

  useEarlyEffect(() => {
    latest.current = options;
  });
  useEarlyEffect(() => {
    if (store !== null && wanted.current !== threadId) {
      wanted.current = threadId;
      show(store, threadId);
    }
  }, [store, threadId]);
  // It comes before any subscription, so that the store connects for the kept thread alone.
  useEarlyEffect(() => {
    const persistence = latest.current?.persistence;
    if (store === null || !persistence) {
      return undefined;
    }
    if (store.getSnapshot().threadId === null) {
      show(store, persistence.read());
    } else {
      persistence.write(store.getSnapshot().threadId);
    }
    return persistence.subscribe?.((id) => show(store, id));
  }, [store]);
  useEffect(() => {
    clearTimeout(closing.current);
    return () => {
      closing.current = setTimeout(() => store?.close(), 0);
    };
  }, [store]);
  return store;
}

function create(
  client: Client,
  options: ThreadOptions,
  latest: () => ThreadOptions | null,
  own: OwnThreads | null,
): ThreadStore {
  const { persistence: _, initialSnapshot, ...rest } = options;
  if (initialSnapshot !== undefined && rest.initialView === undefined) {
    rest.initialView = reduce(emptyView, initialSnapshot);
  }
  rest.threadId ??= rest.initialView?.thread.id ?? null;
  const store = createThreadStore(client, {
    ...rest,
    onFrame: (frame) => latest()?.onFrame?.(frame),
    onCustom: (name, value) => latest()?.onCustom?.(name, value),
    onThread: (threadId) => {
      const now = latest();
      if (now?.persistence) {
        now.persistence.write(threadId);
      }
      now?.onThread?.(threadId);
    },
  });
  return begin(own === null ? store : telling(store, own));
}

/** Returns a store that tells what it shows of its thread. A subscription of its own would connect it. */
function telling(store: ThreadStore, own: OwnThreads): ThreadStore {
  return {
    ...store,
    subscribe: (listener) =>
      store.subscribe(() => {
        own.told(store, store.getSnapshot());
        listener();
      }),
    async delete() {
      const { threadId } = store.getSnapshot();
      const result = await store.delete();
      if (result.ok && threadId !== null) {
        own.deleted(threadId);
      }
      return result;
    },
  };
}

function show(store: ThreadStore, threadId: string | null): void {
  if (store.getSnapshot().threadId === threadId) {
    return;
  }
  if (threadId === null) {
    store.newThread();
  } else {
    store.select(threadId);
  }
}

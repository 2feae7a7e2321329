"use client";

import { type Client, type ClientOptions, createClient } from "@spool/client";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { defaultLabels, type Labels } from "./activity.js";
import { OwnThreadsContext, SpoolContext, ThreadContext } from "./context.js";
import { OwnThreads } from "./own-threads.js";
import { browserPersistence, type Persistence } from "./persistence.js";
import { type ThreadOptions, useEarlyEffect, useOwnedStore } from "./thread-owner.js";

/** What a {@link SpoolProvider} takes: a client, or what one is made of, and the thread to begin with. */
export interface SpoolProviderProps extends ClientOptions, Omit<ThreadOptions, "persistence"> {
  /** A client of your own. The options of a client then do nothing. */
  client?: Client;
  /** Words of the activity line. Those that are left out are `defaultLabels`. */
  labels?: Partial<Labels>;
  /**
   * Where the id of the thread is kept between reloads. `false`: in memory alone. Defaults to `browserPersistence()`
   * unless a thread is given.
   */
  persistence?: Persistence | false;
  /** How often lists of threads are read again, in milliseconds. `false`: never. Defaults to 30,000. */
  threadsRefreshMs?: number | false;
  children?: ReactNode;
}

/**
 * Has the client and the thread of all hooks below it.
 *
 * `token`, `headers`, `fetch` and callbacks may change on each render. A change of `client`, `baseUrl`, `routes` and
 * the other options of a client needs another `key`.
 */
export function SpoolProvider(props: SpoolProviderProps): ReactNode {
  const { children, labels, threadsRefreshMs = 30_000 } = props;
  const latest = useRef(props);
  useEarlyEffect(() => {
    latest.current = props;
  });
  const [client] = useState(() => props.client ?? createClient(optionsOf(props, () => latest.current)));
  const [kept] = useState(
    () => (props.threadId ?? props.initialSnapshot ?? props.initialView) == null && browserPersistence(),
  );
  const [own] = useState(() => new OwnThreads());
  const store = useOwnedStore(client, { ...threadOptionsOf(props), persistence: props.persistence ?? kept }, own);
  const spool = useMemo(
    () => ({ client, labels: { ...defaultLabels, ...labels }, threadsRefreshMs }),
    [client, labels, threadsRefreshMs],
  );
  return (
    <SpoolContext.Provider value={spool}>
      <OwnThreadsContext.Provider value={own}>
        <ThreadContext.Provider value={store}>{children}</ThreadContext.Provider>
      </OwnThreadsContext.Provider>
    </SpoolContext.Provider>
  );
}

/** Returns the options of a client that reads what may change from the newest properties. */
function optionsOf(props: SpoolProviderProps, latest: () => SpoolProviderProps): ClientOptions {
  const { baseUrl, credentials, routes, openStream, backoff, retries, noIdempotencyKey } = props;
  return {
    ...defined({ baseUrl, credentials, routes, openStream, backoff, retries, noIdempotencyKey }),
    fetch: (input, init) => (latest().fetch ?? globalThis.fetch)(input, init),
    headers: () => {
      const { headers } = latest();
      return typeof headers === "function" ? headers() : (headers ?? {});
    },
    ...(props.token !== undefined && {
      token: () => {
        const { token } = latest();
        return typeof token === "function" ? token() : token;
      },
    }),
  };
}

function threadOptionsOf(props: SpoolProviderProps): ThreadOptions {
  const { threadId, defaults, pageSize, shareTabs, initialView, initialSnapshot, schedule } = props;
  const { onFrame, onCustom, onThread } = props;
  const shown = { threadId, defaults, pageSize, shareTabs, initialView, initialSnapshot, schedule };
  return defined({ ...shown, onFrame, onCustom, onThread });
}

/** Returns an object without the fields that are undefined. */
function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

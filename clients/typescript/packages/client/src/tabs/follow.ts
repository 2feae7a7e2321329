// Follows a thread together with the other tabs of the page's origin, over one connection.
import type { FollowOptions } from "../options.js";
import type { Client } from "../types.js";
import type { Frame } from "../wire.js";
import { Tab } from "./tab.js";

/**
 * Yields the frames of a thread as `client.follow` does. Tabs with the same key share a connection; where a runtime
 * has no channels or locks, each has its own.
 */
export async function* sharedFollow(
  client: Client,
  key: string,
  threadId: string,
  options: FollowOptions,
): AsyncGenerator<Frame, undefined> {
  if (typeof BroadcastChannel === "undefined" || typeof navigator === "undefined" || !navigator.locks) {
    yield* client.follow(threadId, options);
    return;
  }
  if (options.signal?.aborted) return;
  const tab = new Tab(client, key, threadId, options);
  const close = () => tab.close();
  options.signal?.addEventListener("abort", close);
  try {
    for (let frame = await tab.next(); frame; frame = await tab.next()) yield frame;
  } finally {
    options.signal?.removeEventListener("abort", close);
    tab.close();
  }
}

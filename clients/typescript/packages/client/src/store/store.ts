import type { Client, ThreadStore, ThreadStoreOptions } from "../types.js";

/**
 * Returns a store that shows a thread. It connects when somebody subscribes, and until it is closed.
 */
export function createThreadStore(_client: Client, _options: ThreadStoreOptions = {}): ThreadStore {
  throw new Error("not built yet");
}

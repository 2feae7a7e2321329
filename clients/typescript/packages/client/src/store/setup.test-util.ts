import { vi } from "vitest";
import { createClient } from "../client.js";
import type { ClientOptions } from "../options.js";
import { type ScriptedServer, type ScriptedThread, scriptedServer, snapshotOf } from "../testing/index.js";
import type { ThreadState, ThreadStore, ThreadStoreOptions } from "../types.js";
import { createThreadStore } from "./store.js";

export interface Bundle {
  readonly server: ScriptedServer;
  readonly thread: ScriptedThread;
  readonly store: ThreadStore;
  /** The states that listeners have seen. */
  readonly states: ThreadState[];
  readonly state: ThreadState;
}

/** Lets everything happen that takes up to so long. */
export const pass = (ms = 20) => vi.advanceTimersByTimeAsync(ms);

/** A store of the thread t1, which exists, on a server in memory. */
export async function setup(options: ThreadStoreOptions = {}, client: ClientOptions = {}): Promise<Bundle> {
  const server = scriptedServer();
  const thread = server.thread("t1");
  thread.snapshot = snapshotOf("t1");
  const spool = createClient({ baseUrl: "http://spool.test", fetch: server.fetch, ...client });
  const store = createThreadStore(spool, { threadId: "t1", ...options });
  const states: ThreadState[] = [];
  store.subscribe(() => states.push(store.getSnapshot()));
  await pass();
  return {
    server,
    thread,
    store,
    states,
    get state() {
      return store.getSnapshot();
    },
  };
}

/** What a state shows, in one text. */
export function shown(state: ThreadState): string {
  const said = [...state.messages, ...state.view.drafts].map((m) =>
    typeof m.content === "string" ? m.content : Array.isArray(m.content) ? m.content.map((p) => p.type).join(",") : "",
  );
  const turns = state.turns.map((t) => `(${t.prompt} ${t.status}${t.position ? ` ${t.position}` : ""})`);
  return [...said, ...turns].join(" | ");
}

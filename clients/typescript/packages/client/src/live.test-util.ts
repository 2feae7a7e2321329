// A real server, whose program is SPOOL_BIN: see test/tsclient.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { createClient } from "./client.js";
import { emptyView, reduce } from "./reduce/reduce.js";
import type { ThreadState, ThreadStore } from "./types.js";
import type { ThreadView } from "./view.js";

export const program = process.env.SPOOL_BIN ?? "";
const data = mkdtempSync(join(tmpdir(), "spool-client-"));
let server: ChildProcess;
export let baseUrl = "";

/** Starts the server, at the same address as before. */
export async function serve(): Promise<void> {
  const listen = baseUrl ? new URL(baseUrl).host : "127.0.0.1:0";
  server = spawn(program, ["serve", "--listen", listen, "--data", data], { stdio: ["ignore", "pipe", "pipe"] });
  baseUrl = await new Promise((resolve, reject) => {
    let said = "";
    const hear = (piece: Buffer) => {
      said += piece;
      const url = /http:\/\/[\w.:]+:\d+/.exec(said);
      if (url) resolve(url[0].replace("localhost", "127.0.0.1"));
    };
    server.stdout?.on("data", hear);
    server.stderr?.on("data", hear);
    server.on("exit", () => reject(new Error(said)));
  });
  const client = createClient({ baseUrl });
  for (let ready = false; !ready; )
    ready = await client.request("GET", "/readyz").then(
      () => true,
      () => false,
    );
}

/** Ends the server, without a chance to clean up. */
export async function kill(): Promise<void> {
  server.kill("SIGKILL");
  await once(server, "exit");
}

/** Waits for a state that fits. */
export function until(store: ThreadStore, fits: (state: ThreadState) => boolean): Promise<ThreadState> {
  return new Promise((resolve) => {
    const check = () => {
      const state = store.getSnapshot();
      if (!fits(state)) return;
      end();
      resolve(state);
    };
    const end = store.subscribe(check);
    check();
  });
}

export const idle = (s: ThreadState) =>
  s.turns.length === 0 && ["COMPLETED", "CANCELLED", "FAILED"].includes(s.view.thread.state);

/** What a view shows, without what only a snapshot has: ids and times of messages, and the prompts of nested runs. */
function content(view: ThreadView): unknown {
  const said = view.messages
    .filter((m) => m.agentId === null || m.role !== "user")
    .map((m) => ({ role: m.role, agentId: m.agentId, runId: m.runId, content: m.content }));
  const runs = view.runs.map((r) => ({ id: r.id, state: r.state, parentRunId: r.parentRunId }));
  const { thread, parks, queue, drafts } = view;
  return { said, parks, queue, drafts, state: thread.state, runs: runs.sort((a, b) => a.id.localeCompare(b.id)) };
}

/** The store shows what a new snapshot has, as soon as it has heard of it. */
export async function same(store: ThreadStore, withinMs = 5_000): Promise<void> {
  const { threadId } = store.getSnapshot();
  await vi.waitFor(async () => {
    const saved = reduce(emptyView, await createClient({ baseUrl }).history(threadId ?? ""));
    const { view } = store.getSnapshot();
    // Nothing tells a client that was away of a run that was cancelled before it began.
    const known = new Set(view.runs.map((r) => r.id));
    const runs = saved.runs.filter((r) => known.has(r.id) || r.state !== "CANCELLED" || r.steps > 0);
    expect(content(view)).toEqual(content({ ...saved, runs }));
  }, withinMs);
}

/** Ends the server, and removes what it has saved. */
export async function remove(): Promise<void> {
  server.removeAllListeners("exit");
  await kill();
  rmSync(data, { recursive: true });
}

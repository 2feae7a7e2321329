import { refusalOf, type SpoolError } from "../error.js";
import { sharedFollow } from "../tabs/follow.js";
import type { Client, ThreadStore, ThreadStoreOptions } from "../types.js";
import { type Frame, isActive } from "../wire.js";
import { act, loadBranches, loadOlder, loadUsage, reload, respond, restoreBranch, stop } from "./actions.js";
import { Core } from "./core.js";
import { type Follow, Live } from "./live.js";
import { regenerate, send } from "./send.js";

/** Whether a frame is the end of a step of the run's own agent, whose context is that of the thread. */
const isStep = (f: Frame) => f.kind === "stream" && f.item.type === "STEP_FINISHED" && f.item.agentId == null;

/**
 * Returns a store that shows a thread. It is connected from the first subscription until it is closed.
 *
 * ```ts
 * const store = createThreadStore(client, { threadId: "t1" });
 * store.subscribe(() => render(store.getSnapshot()));
 * await store.send("Hello");
 * ```
 */
export function createThreadStore(client: Client, options: ThreadStoreOptions = {}): ThreadStore {
  const core = new Core(client, options);
  const { shareTabs } = options;
  const key = `${client.baseUrl ?? ""}:${shareTabs === true ? "" : shareTabs}`;
  const follow: Follow = shareTabs ? (threadId, given) => sharedFollow(client, key, threadId, given) : client.follow;
  let live: Live | null = null;
  let wanted = false;
  /** The generation of the thread that this store deletes. */
  let deleting = -1;

  const connect = () => {
    wanted = true;
    const { threadId } = core.state;
    if (live || threadId === null) return;
    const { generation } = core;
    live = new Live(core, threadId, follow, {
      gone: (error) => generation === core.generation && show(null, generation === deleting ? null : error),
      shown: (frames) => {
        const { branches, usage, view } = core.state;
        const came = (...types: string[]) => frames.some((f) => f.kind === "thread" && types.includes(f.event.type));
        if (branches && came("MESSAGES_DROPPED", "MESSAGES_RESTORED")) reload(core, "branches").catch(() => {});
        const ended = came("STATE_CHANGE") && !isActive(view.thread.state);
        if (usage && (ended || frames.some(isStep))) reload(core, "usage").catch(() => {});
      },
    });
  };
  const reconnect = () => {
    if (wanted) connect();
  };
  const disconnect = () => {
    live?.close();
    live = null;
    core.quiet();
  };
  const show = (threadId: string | null, error: SpoolError | null = null) => {
    disconnect();
    core.reset(threadId, error);
    reconnect();
  };

  core.refresh = () => {
    if (live && !live.ended) return live.refresh();
    disconnect();
    reconnect();
  };

  return {
    getSnapshot: () => core.state,
    subscribe(listener) {
      const end = core.subscribe(listener);
      connect();
      return end;
    },
    send: (prompt, given = {}) => send(core, prompt, given, reconnect),
    steer: (prompt, given = {}) => send(core, prompt, { ...given, whenBusy: "steer" }, reconnect),
    edit: (messageId, prompt, given = {}) => send(core, prompt, given, reconnect, messageId),
    regenerate: (messageId, given = {}) => regenerate(core, messageId, given, reconnect),
    async retry() {
      const { failed } = core;
      return failed && send(core, failed.prompt, failed.options, reconnect, failed.editMessageId);
    },
    stop: (runId) => stop(core, runId),
    respond: (toolCallId, answer) => respond(core, toolCallId, answer),
    restoreBranch: (branchId) => restoreBranch(core, branchId),
    loadOlder: () => loadOlder(core),
    loadUsage: () => loadUsage(core),
    loadBranches: () => loadBranches(core),
    select(threadId) {
      if (threadId !== core.state.threadId) show(threadId);
    },
    newThread: () => show(null),
    async delete() {
      if (core.state.threadId === null) return { ok: true };
      const { generation } = core;
      deleting = generation;
      const result = await act(core, async (threadId) => {
        const deleted = await client.deleteThread(threadId);
        if (!deleted.accepted) throw refusalOf(deleted, "the thread could not be deleted");
        return undefined;
      });
      if (!result.ok) deleting = -1;
      else if (core.generation === generation) show(null);
      return result;
    },
    refresh: () => core.refresh(),
    dismissError: () => core.set({ error: null, unsent: null }),
    close() {
      wanted = false;
      disconnect();
      core.set({ connection: "closed", connectionError: null });
    },
  };
}

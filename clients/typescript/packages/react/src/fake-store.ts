// A store whose state a test sets.
import {
  emptyView,
  type Park,
  type ThreadState,
  type ThreadStore,
  type ThreadView,
  type ViewMessage,
} from "@spool/client";

/** A store of which a test sets the state, and sees who listens. */
export interface FakeStore extends ThreadStore {
  set(change: Partial<Omit<ThreadState, "view">> & { view?: Partial<ThreadView> }): void;
  readonly listeners: Set<() => void>;
  readonly calls: unknown[][];
}

export function fakeStore(): FakeStore {
  let state: ThreadState = {
    threadId: "t",
    view: emptyView,
    turns: [],
    messages: [],
    connection: "open",
    connectionError: null,
    loading: false,
    hasOlder: false,
    loadingOlder: false,
    answering: [],
    stopping: false,
    error: null,
    unsent: null,
    usage: null,
    branches: null,
  };
  const listeners = new Set<() => void>();
  const calls: unknown[][] = [];
  const did =
    (name: string) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args]);
      return { ok: true } as never;
    };
  return {
    listeners,
    calls,
    set({ view, ...change }) {
      const shown = view === undefined ? state.view : { ...state.view, ...view };
      state = { ...state, ...(view?.messages !== undefined && { messages: view.messages }), ...change, view: shown };
      for (const listener of [...listeners]) {
        listener();
      }
    },
    getSnapshot: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send: did("send"),
    steer: did("steer"),
    retry: did("retry"),
    edit: did("edit"),
    regenerate: did("regenerate"),
    stop: did("stop"),
    respond: did("respond"),
    restoreBranch: did("restoreBranch"),
    loadOlder: did("loadOlder"),
    loadUsage: did("loadUsage"),
    loadBranches: did("loadBranches"),
    select: did("select"),
    newThread: did("newThread"),
    delete: did("delete"),
    refresh: did("refresh"),
    dismissError: did("dismissError"),
    close: did("close"),
  };
}

/** Returns a message of the view. */
export function message(
  id: string,
  role: ViewMessage["role"],
  content: ViewMessage["content"],
  rest: Partial<ViewMessage> = {},
): ViewMessage {
  return { id, threadId: "t", role, content, agentId: null, createdAt: "2026-11-28T08:00:00Z", ...rest };
}

/** Returns a question. */
export function park(toolCallId: string, rest: Partial<Park> = {}): Park {
  const question = { toolCallId, toolName: "send_email", agentId: null, arguments: { to: "ann@example.com" } };
  return { ...question, inputSchema: null, frames: [], reason: "approval", runId: "r", ...rest };
}

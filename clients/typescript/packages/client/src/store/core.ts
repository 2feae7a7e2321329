// The state of a store, and who listens to it.
import { pause } from "../backoff.js";
import type { SpoolError } from "../error.js";
import { emptyView } from "../reduce/reduce.js";
import type { Client, OptimisticTurn, SendOptions, ThreadState, ThreadStoreOptions } from "../types.js";
import type { ThreadView, ViewMessage } from "../view.js";
import { isActive } from "../wire.js";
import { report } from "./report.js";
import { settled } from "./turns.js";

/** A turn that the server has not accepted, to be sent again. */
export interface FailedSend {
  readonly prompt: string;
  readonly options: SendOptions;
  readonly editMessageId: string | undefined;
}

/** How long the message of an accepted turn may take to come. */
const messageMs = 5_000;

/** What the parts of a store share. */
export class Core {
  state: ThreadState;
  /** Counts the threads that the store has shown. What belongs to an older one changes nothing. */
  generation = 0;
  /** The turn whose answer will name the new thread. */
  creating: Promise<unknown> = Promise.resolve();
  failed: FailedSend | null = null;
  /** The server is known to say what the state is on each connection. */
  greeted = false;
  /** Reads the snapshot again. */
  refresh: () => void = () => {};
  readonly #listeners = new Set<() => void>();
  #present = new AbortController();

  constructor(
    readonly client: Client,
    readonly options: ThreadStoreOptions,
  ) {
    this.state = stateOf(options.threadId ?? null, options.initialView);
  }

  subscribe(listener: () => void): () => void {
    const own = () => listener(); // the same function may subscribe twice
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Changes the state. Fields that are the same as before change nothing. */
  set(fields: Partial<ThreadState>): void {
    const next = { ...this.state, ...fields };
    const messages = shown(next.view.messages, next.turns, this.state);
    const changed = { ...next, messages };
    const keys = Object.keys(changed) as (keyof ThreadState)[];
    if (keys.every((key) => changed[key] === this.state[key])) return;
    this.state = changed;
    for (const listener of [...this.#listeners]) report(listener);
  }

  /** Shows another view of the thread, with the turns that it does not have yet. */
  show(view: ThreadView, fields: Partial<ThreadState> = {}): void {
    const { turns, lost } = settled(this.state.turns, view, this.state.view);
    const queued = this.state.turns.filter((t) => t.status === "queued").map((t) => t.clientMessageId);
    const answering = this.state.answering.filter((id) => view.parks.some((p) => p.toolCallId === id));
    this.set({
      view,
      turns,
      answering: answering.length === this.state.answering.length ? this.state.answering : answering,
      ...(lost && { error: lost }),
      ...fields,
    });
    for (const turn of turns) {
      if (turn.status === "accepted" && queued.includes(turn.clientMessageId)) this.expect(turn.clientMessageId);
    }
  }

  /** Shows another thread from the beginning. */
  reset(threadId: string | null, error: SpoolError | null = null): void {
    this.generation++;
    this.failed = null;
    this.creating = Promise.resolve();
    this.set({ ...stateOf(threadId), error });
    report(() => this.options.onThread?.(threadId));
  }

  /**
   * Reads the snapshot again if a turn that was accepted does not become a message: its run was cancelled while it
   * waited, or a host has lost the notice.
   */
  expect(clientMessageId: string): void {
    const left = isActive(this.state.view.thread.state) ? messageMs : messageMs / 5; // else nothing else is to be done
    this.later(left, () => {
      if (this.state.turns.some((t) => t.clientMessageId === clientMessageId && t.status === "accepted"))
        this.refresh();
    });
  }

  /** Does something with the present thread later, unless the store is closed by then. */
  later(ms: number, work: () => void): void {
    void pause(ms, this.#present.signal).then((whole) => whole && work());
  }

  /** Forgets what was to be done later. */
  quiet(): void {
    this.#present.abort();
    this.#present = new AbortController();
  }

  /** Changes one of the turns. */
  turn(clientMessageId: string, fields: Partial<OptimisticTurn>): void {
    const turns = this.state.turns.map((t) => (t.clientMessageId === clientMessageId ? { ...t, ...fields } : t));
    this.set({ turns });
  }
}

function stateOf(threadId: string | null, view: ThreadView = emptyView): ThreadState {
  return {
    threadId,
    view,
    turns: [],
    messages: view.messages,
    connection: threadId === null ? "closed" : "connecting",
    connectionError: null,
    loading: threadId !== null && view.cursor === null,
    hasOlder: false,
    loadingOlder: false,
    answering: [],
    stopping: false,
    error: null,
    unsent: null,
    usage: null,
    branches: null,
  };
}

/** The messages without those that an edit on its way replaces. */
function shown(
  messages: readonly ViewMessage[],
  turns: readonly OptimisticTurn[],
  old: ThreadState,
): readonly ViewMessage[] {
  const edited = turns.find((t) => t.editMessageId !== undefined && t.status !== "queued")?.editMessageId;
  const at = edited === undefined ? -1 : messages.findIndex((m) => m.id === edited);
  if (at < 0) return messages;
  const cut = messages.slice(0, at);
  return cut.length === old.messages.length && cut.every((m, i) => m === old.messages[i]) ? old.messages : cut;
}

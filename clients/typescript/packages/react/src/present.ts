// Which messages a thread shows, and each of them by its id, without work that grows with the thread for each token.
import type { Message, Park, PendingCall, ThreadState, ThreadStore, ViewMessage } from "@spool/client";
import { nestedOf, type ShownMessage, shown, shownTurn, sourcesOf } from "./show.js";

/** Which messages {@link Presenter.ids} returns. */
export interface MessageFilter {
  /** The nested run whose messages are wanted. Left out: those of the user and of the run's own agent. */
  agentId?: string | null;
}

/** The messages of one array by id, with the results of their calls. */
interface Index {
  readonly byId: Map<string, ViewMessage>;
  /** The results of the calls of each message, and their sources, by the message's id. */
  readonly results: Map<string, Map<string, unknown>>;
  /** The message of the newest call of each agent and call id. A model may use an id again. */
  readonly calls: Map<string, string>;
  /** The ids of the messages to show, by agent. */
  readonly ids: Map<string, string[]>;
}

/** What an earlier answer for a message was made of. */
interface Kept {
  readonly source: unknown;
  readonly depends: readonly unknown[];
  readonly value: ShownMessage;
}

/** Presents the messages of one store. */
export interface Presenter {
  /** The ids of the messages to show, in order: the same array as before if they are the same. */
  ids(state: ThreadState, filter?: MessageFilter): readonly string[];
  /** A message: the same object as before if nothing of it has changed. */
  message(state: ThreadState, id: string): ShownMessage | null;
}

const presenters = new WeakMap<ThreadStore, Presenter>();

/** Returns the presenter of a store, always the same one. */
export function presenterOf(store: ThreadStore): Presenter {
  let presenter = presenters.get(store);
  if (presenter === undefined) {
    presenter = newPresenter();
    presenters.set(store, presenter);
  }
  return presenter;
}

function newPresenter(): Presenter {
  const indexes = new WeakMap<readonly ViewMessage[], Index>();
  const lists = new Map<string, readonly string[]>();
  let kept = new Map<string, Kept>();
  let thread: string | null = null;

  function indexOf(messages: readonly ViewMessage[], before?: Index): Index {
    let index = indexes.get(messages);
    if (index === undefined) {
      index = build(messages, before);
      indexes.set(messages, index);
    }
    return index;
  }

  function indexesOf(state: ThreadState): { saved: Index; drafts: Index } {
    if (state.threadId !== thread) {
      thread = state.threadId;
      kept = new Map();
      lists.clear();
    }
    const saved = indexOf(state.messages);
    return { saved, drafts: indexOf(state.view.drafts, saved) };
  }

  return {
    ids(state, filter = {}) {
      const { saved, drafts } = indexesOf(state);
      const agent = filter.agentId ?? "";
      const ids = [...(saved.ids.get(agent) ?? [])];
      for (const id of drafts.ids.get(agent) ?? []) {
        if (!saved.byId.has(id)) {
          ids.push(id);
        }
      }
      if (agent === "") {
        ids.push(...state.turns.map((turn) => turn.clientMessageId));
      }
      const last = lists.get(agent);
      if (last !== undefined && sameItems(last, ids)) {
        return last;
      }
      lists.set(agent, ids);
      return ids;
    },

    message(state, id) {
      const { saved, drafts } = indexesOf(state);
      const { parks, pending, runs } = state.view;
      const message = saved.byId.get(id) ?? drafts.byId.get(id);
      const source = message ?? state.turns.find((turn) => turn.clientMessageId === id);
      if (source === undefined) {
        return null;
      }
      const streaming = !saved.byId.has(id);
      const results = merged(saved.results.get(id), drafts.results.get(id));
      const depends =
        message === undefined ? [] : [streaming, ...dependsOn(message, results, parks, pending, state.view.runs)];
      const earlier = kept.get(id);
      if (earlier !== undefined && earlier.source === source && sameItems(earlier.depends, depends)) {
        return earlier.value;
      }
      const value =
        message === undefined
          ? shownTurn(source as ThreadState["turns"][number])
          : shown(message, streaming, { results, parks, pending, runs });
      kept.set(id, { source, depends, value });
      return value;
    },
  };
}

function build(messages: readonly ViewMessage[], before?: Index): Index {
  const index: Index = { byId: new Map(), results: new Map(), calls: new Map(), ids: new Map() };
  for (const message of messages) {
    index.byId.set(message.id, message);
    const agent = message.agentId ?? "";
    // The first turn of a nested run is the text of the call that has started it, and only snapshots have it.
    if (message.role !== "tool" && !(message.role === "user" && message.agentId !== null)) {
      const ids = index.ids.get(agent);
      if (ids === undefined) {
        index.ids.set(agent, [message.id]);
      } else {
        ids.push(message.id);
      }
    }
    for (const part of partsIn(message.content)) {
      const call = `${agent} ${"toolCallId" in part ? part.toolCallId : ""}`;
      if (part.type === "tool-call") {
        index.calls.set(call, message.id);
      } else if (part.type === "tool-result" || part.type === "source") {
        const id = index.calls.get(call) ?? before?.calls.get(call);
        if (id !== undefined) {
          const results = index.results.get(id) ?? new Map<string, unknown>();
          const key = sourcesOf(part.toolCallId);
          if (part.type === "source") {
            results.set(key, [results.get(key) ?? [], part].flat());
          } else {
            results.set(part.toolCallId, part.result);
          }
          index.results.set(id, results);
        }
      }
    }
  }
  return index;
}

function partsIn(content: Message["content"]) {
  return Array.isArray(content) ? content : [];
}

/** Returns what the shown form of a message depends on beside the message: the results and the states of its calls. */
function dependsOn(
  message: ViewMessage,
  results: ReadonlyMap<string, unknown> | undefined,
  parks: readonly Park[],
  pending: readonly PendingCall[],
  runs: ThreadState["view"]["runs"],
): unknown[] {
  const depends: unknown[] = [];
  for (const part of partsIn(message.content)) {
    if (part.type === "tool-call") {
      const is = (other: { toolCallId: string }) => other.toolCallId === part.toolCallId;
      depends.push(results?.get(part.toolCallId), results?.has(part.toolCallId), parks.find(is), pending.find(is));
      depends.push(nestedOf(part, message.agentId, runs)?.id);
    }
  }
  return depends;
}

function merged(a: ReadonlyMap<string, unknown> | undefined, b: ReadonlyMap<string, unknown> | undefined) {
  return a !== undefined && b !== undefined ? new Map([...a, ...b]) : (a ?? b);
}

/** Reports whether two arrays have the same items in the same order. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, i) => Object.is(item, b[i])));
}

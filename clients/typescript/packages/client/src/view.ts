// What a client shows of a thread. The JSON form is the one of spec/fixtures/views.json, which other languages share.
import type { CallPending, InputRequired, Message, Part, QueuedRun, Run, State, Thread } from "./wire.js";

/** A message as it is shown. One that came with a stream has no time until a snapshot replaces it. */
export type ViewMessage = Omit<Message, "createdAt"> & { readonly createdAt?: string };

/** A run as it is shown. One that came with a stream has only some fields until a snapshot replaces it. */
export type ViewRun = Omit<Run, "startedAt"> & { readonly startedAt?: string };

/** The thread itself. */
export type ViewThread = Omit<Thread, "createdAt" | "updatedAt" | "state"> & {
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly state: State;
};

/**
 * A question that waits for an answer: a call that needs an approval, a call whose outcome is unknown, a budget that
 * is used up, a tool that the client runs, or a tool's own question. `reason` says which one.
 */
export type Park = InputRequired & { readonly runId: string; readonly askedAt?: string };

/** A call whose work goes on elsewhere. Nobody has to answer. */
export type PendingCall = CallPending & { readonly runId: string };

/** The next attempt of a run whose last one failed. */
export interface Retry {
  readonly runId: string;
  readonly at: string;
  readonly error?: string;
}

/** An agent whose next answer waits for a limit of the model's provider. */
export interface ProviderWait {
  readonly agentId: string | null;
  readonly limit: string;
}

/**
 * Everything that a client shows of a thread. It never changes: {@link reduce} returns another one, in which
 * everything that has not changed is the same object as before.
 */
export interface ThreadView {
  readonly thread: ViewThread;
  /** The messages, in order, with those of nested runs, which have an `agentId`. */
  readonly messages: readonly ViewMessage[];
  /**
   * What is being streamed, in the form of messages that come after `messages`. Each agent that is in the middle of a
   * step has one, and a second one for the results of its calls. A draft becomes a message with the same id, or goes.
   * The arguments of an unfinished call are the text so far, as a string.
   */
  readonly drafts: readonly ViewMessage[];
  /** The questions that wait for an answer, in the order in which they were asked. */
  readonly parks: readonly Park[];
  readonly pending: readonly PendingCall[];
  /** The runs that are known, the newest first, with those that are nested in a run before it. */
  readonly runs: readonly ViewRun[];
  /** The runs that wait for the thread, the next one first. */
  readonly queue: readonly QueuedRun[];
  readonly retry: Retry | null;
  readonly providerWaits: readonly ProviderWait[];
  /** The position from which to follow on. `null`: the view is empty. */
  readonly cursor: string | null;
  /** The thread was deleted. */
  readonly deleted?: boolean;
  /** What {@link reduce} needs to go on. It is JSON too, and nothing in it is for a user. */
  readonly reading: Reading;
}

/** How far a view has read. */
export interface Reading {
  /** The last record entry. */
  readonly seq: number;
  /** The stream of the present segment. `""`: none is open. */
  readonly streamId: string;
  /** The last offset of that stream. `""`: none. */
  readonly offset: string;
  /** What agents said since their last finished step, in the order in which they began. */
  readonly drafts: readonly Draft[];
  /** The run of the last STATE_CHANGE since the snapshot. Left out: none. */
  readonly runId?: string;
}

/** What one agent says in the step that it is in. */
export interface Draft {
  /** The nested run. `""`: the run's own agent. */
  readonly agentId: string;
  readonly streamId: string;
  readonly parts: readonly DraftPart[];
  /** The offset of the item with which the parts begin. */
  readonly began: string;
  /** The results of calls, each with the sources that it names behind it. */
  readonly results: readonly (Part & { toolCallId: string })[];
  /** The offset of the first result. */
  readonly landed: string;
}

/** A part of a message that grows. */
export interface DraftPart {
  readonly type: "text" | "reasoning" | "tool-call" | "whole";
  /** The name of a text in its stream, or the id of a call. */
  readonly id: string;
  /** The text, or the arguments of a call as they came. */
  readonly text: string;
  readonly toolName?: string;
  readonly args?: unknown;
  /** The arguments as the model wrote them, if they were repaired. */
  readonly sentArgs?: unknown;
  /** The arguments of a call are complete. */
  readonly whole?: boolean;
  /** The part, if it came whole: a source or a file. */
  readonly part?: Part;
}

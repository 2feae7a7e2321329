// The client and the store of a thread, as they are used.
import type { SpoolError } from "./error.js";
import type {
  CallOptions,
  Connection,
  FollowOptions,
  HistoryOptions,
  InboxAnswer,
  InboxFilter,
  InboxLinkRequest,
  InboxResult,
  RespondRequest,
  RunFields,
  RunOptions,
  RunRequest,
  ThreadChange,
  ThreadFilter,
  Upload,
} from "./options.js";
import type { ThreadView, ViewMessage } from "./view.js";
import type {
  ApplicationEvent,
  Artifact,
  ArtifactURL,
  Attachment,
  Branch,
  BranchMessages,
  CompactResult,
  DeleteResult,
  ForkResult,
  Frame,
  Inbox,
  InboxLink,
  QuestionLink,
  RespondResult,
  RestoreResult,
  RunOutcome,
  RunResult,
  Snapshot,
  StopResult,
  StreamToken,
  Thread,
  ThreadUsage,
  WhenBusy,
} from "./wire.js";

/**
 * Calls one server as one caller. A refusal that the server answers with a result, such as a start on a busy thread, is
 * a result with `accepted`, `delivered` or `compacted` false; every other failure throws a {@link SpoolError}.
 */
export interface Client {
  /** Where the server is. */
  readonly baseUrl?: string;
  /** `retryAfterMs` comes with a refusal that is another one later. */
  run(request: RunRequest, options?: RunOptions): Promise<RunResult & { retryAfterMs?: number }>;
  /** Stops the thread's run and cancels those that wait. With a run id: only that run. */
  stop(threadId: string, options?: CallOptions & { runId?: string }): Promise<StopResult>;
  respond(threadId: string, answer: RespondRequest, options?: CallOptions): Promise<RespondResult>;
  history(threadId: string, options?: HistoryOptions): Promise<Snapshot>;
  /** The snapshot as it was behind a commit. The `version` is that of a record; an entry's `seq` names one too. */
  snapshotAt(threadId: string, at: CallOptions & ({ version: number } | { seq: number })): Promise<Snapshot>;
  /** The thread with all states that it had, for `readRecord` of `@spool/client/record`. Its body is yet to be read. */
  record(threadId: string, options?: CallOptions): Promise<Response>;
  /** Makes a new thread with the messages that this one had at a version. It is refused for an id that is used. */
  fork(threadId: string, from: CallOptions & { version: number; newThreadId?: string }): Promise<ForkResult>;
  usage(threadId: string, options?: CallOptions): Promise<ThreadUsage>;
  threads(filter?: ThreadFilter): Promise<{ threads: Thread[]; next?: string }>;
  updateThread(threadId: string, change: ThreadChange, options?: CallOptions): Promise<Thread>;
  /** A thread that does not exist counts as deleted. */
  deleteThread(threadId: string, options?: CallOptions): Promise<DeleteResult>;
  branches(threadId: string, options?: CallOptions): Promise<Branch[]>;
  branchMessages(
    threadId: string,
    branchId: number,
    options?: CallOptions & { limit?: number; before?: string },
  ): Promise<BranchMessages>;
  restoreBranch(threadId: string, branchId: number, options?: CallOptions): Promise<RestoreResult>;
  /** The durable events of the application with a seq above `after`. */
  events(
    threadId: string,
    options?: CallOptions & { after?: number; limit?: number },
  ): Promise<{ events: ApplicationEvent[]; next?: number }>;
  publish(
    threadId: string,
    event: { type: string; payload?: unknown; durable?: boolean },
    options?: CallOptions,
  ): Promise<{ accepted: boolean; seq?: number }>;
  compact(threadId: string, options?: CallOptions): Promise<CompactResult>;
  /** The outcome of a run. `wait`, such as `"30s"`: the answer comes when the run has ended or needs an answer. */
  outcome(runId: string, options?: CallOptions & { wait?: string }): Promise<RunOutcome>;
  streamToken(threadId: string, options?: CallOptions): Promise<StreamToken>;
  upload(threadId: string, data: Blob | BufferSource | string, options?: Upload): Promise<Artifact>;
  artifact(threadId: string, artifactId: string, options?: CallOptions): Promise<Blob>;
  /** A signed URL that has the data without credentials. `expiresIn`, such as `"5m"`, is at most an hour. */
  artifactUrl(
    threadId: string,
    artifactId: string,
    options?: CallOptions & { expiresIn?: string },
  ): Promise<ArtifactURL>;
  /** The questions of all threads that wait for an answer. `next` is the `after` of the next page. */
  inbox(filter?: InboxFilter): Promise<Inbox>;
  /** Answers up to 100 questions. Each has a result of its own, in the same order. */
  answerInbox(answers: readonly InboxAnswer[], options?: CallOptions): Promise<InboxResult[]>;
  /** A signed link with which one person can see and answer one question, without other credentials. */
  inboxLink(request: InboxLinkRequest, options?: CallOptions): Promise<InboxLink>;
  /**
   * The links that the caller has made, and those of its whole tenant for the scope admin, without links that are over.
   * `limit` is 50 unless given. `after` is the `linkId` of the last link of the page before.
   */
  inboxLinks(options?: CallOptions & { limit?: number; after?: string }): Promise<QuestionLink[]>;
  /** Ends a link before its time. One that is over, or that the caller does not see, is `not_found`. */
  revokeInboxLink(linkId: string, options?: CallOptions): Promise<QuestionLink>;
  /** The frames of a thread as they happen, each once, over as many connections as it takes. */
  follow(threadId: string, options?: FollowOptions): AsyncIterable<Frame>;
  /** A request of the caller's own, with the client's credentials and errors. */
  request<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>;
}

/** A turn that the user has sent and that no message has yet. */
export interface OptimisticTurn {
  readonly clientMessageId: string;
  readonly prompt: string;
  readonly attachments: readonly Attachment[];
  /** `sending`: no answer yet. `accepted`: its message comes next. `queued`: another run has the thread. */
  readonly status: "sending" | "accepted" | "queued";
  readonly runId?: string;
  /** The place in the queue, from 1, if it waits. */
  readonly position?: number;
  /** Whether it is put into the active run. */
  readonly whenBusy?: WhenBusy;
  /** The turn that it replaces. */
  readonly editMessageId?: string;
  readonly sentAt: string;
}

/** What a {@link ThreadStore} shows. It never changes; everything that is the same as before is the same object. */
export interface ThreadState {
  /** `null`: a new thread, whose first turn has not been sent. */
  readonly threadId: string | null;
  readonly view: ThreadView;
  /** The turns of this client that no message has yet, in the order in which they were sent. */
  readonly turns: readonly OptimisticTurn[];
  /** The messages to show: those of the view without the ones that an edit on its way replaces. */
  readonly messages: readonly ViewMessage[];
  readonly connection: Connection;
  /** Why the last attempt to connect has failed. `null`: it has not, or the connection is open. */
  readonly connectionError: SpoolError | null;
  /** The first snapshot has not come. */
  readonly loading: boolean;
  /** There are messages before those of the view: see `loadOlder`. */
  readonly hasOlder: boolean;
  readonly loadingOlder: boolean;
  /** The ids of the calls whose answer is on its way. */
  readonly answering: readonly string[];
  /** A stop is on its way. */
  readonly stopping: boolean;
  /** The newest failure of an action or of the connection. `dismissError` and the next action clear it. */
  readonly error: SpoolError | null;
  /** The prompt of a turn that was not accepted: `retry` sends it again. `dismissError` and the next turn clear it. */
  readonly unsent: string | null;
  /** See `loadUsage`. */
  readonly usage: ThreadUsage | null;
  /** See `loadBranches`. Once loaded, they are kept current. */
  readonly branches: readonly Branch[] | null;
}

/** What an action came to. It never throws. */
export type ActionResult = { readonly ok: true } | { readonly ok: false; readonly error: SpoolError };

/** What a `send` came to. */
export type SendResult =
  | {
      readonly ok: true;
      readonly threadId: string;
      readonly runId?: string;
      readonly clientMessageId: string;
      readonly position?: number;
    }
  | { readonly ok: false; readonly error: SpoolError; readonly clientMessageId: string };

/** Options of a `send`: the fields of a start, without those that the store knows. */
export interface SendOptions extends Omit<RunFields, "prompt" | "threadId" | "editMessageId" | "attachments"> {
  /**
   * A file is sent in the turn if it has up to 5 MiB, and uploaded to the thread else. Of an edited turn, they default to
   * those that it has.
   */
  attachments?: readonly (Attachment | File)[];
  /** That of an earlier attempt, so that the turn arrives once. Defaults to a new id. */
  clientMessageId?: string;
  prompt?: never;
  threadId?: never;
  editMessageId?: never;
}

/** An answer of the user to a park. The store adds the digest of the question that is shown. */
export type Answer = Omit<RespondRequest, "toolCallId">;

/** Options of {@link createThreadStore}. */
export interface ThreadStoreOptions {
  /** Left out: a new thread. */
  threadId?: string | null;
  /** Fields of every start, such as the agent. */
  defaults?: SendOptions;
  /** How many messages are read at first. Defaults to all of them. */
  pageSize?: number;
  /**
   * Tabs of one origin that show the same thread share one connection. A text, such as the id of the user, keeps apart
   * the tabs of different users of one browser. Defaults to false.
   */
  shareTabs?: boolean | string;
  /** The state of an earlier store of the thread, such as one on a server: the store goes on from its cursor. */
  initialView?: ThreadView;
  /**
   * Runs a function soon, once for everything that arrives until then. Defaults to the next animation frame, or to 16
   * ms where there is none or the page is hidden.
   */
  schedule?: (run: () => void) => void;
  /** Called for each frame, before the store has applied it. */
  onFrame?: (frame: Frame) => void;
  /**
   * Called for each event of the application: an entry or a notice with the mark `published`, or a CUSTOM item. It is not
   * called for kinds of a newer server, nor for entries of a host without the mark.
   */
  onCustom?: (name: string, value: unknown) => void;
  /** Called when the thread of the store is another one: its first turn was accepted, it was deleted or selected. */
  onThread?: (threadId: string | null) => void;
}

/** Shows one thread at a time, live. No framework is needed; for React, see `@spool/react`. */
export interface ThreadStore {
  getSnapshot(): ThreadState;
  /** Calls a function after each change of the state. The result ends that. */
  subscribe(listener: () => void): () => void;
  /** Sends a turn. It is shown at once, and taken back if the server refuses it. */
  send(prompt: string, options?: SendOptions): Promise<SendResult>;
  /** Sends a turn that the active run reads before its next step. */
  steer(prompt: string, options?: SendOptions): Promise<SendResult>;
  /** Sends the last turn that has failed again, with the same id, so that it arrives once. */
  retry(): Promise<SendResult | null>;
  /** Replaces a turn: it and everything after it become a branch. */
  edit(messageId: string, prompt: string, options?: SendOptions): Promise<SendResult>;
  /** Has a turn answered again, with its text and attachments. Left out: the last turn of the user. */
  regenerate(messageId?: string, options?: SendOptions): Promise<SendResult>;
  /** Stops the active run and cancels those that wait. With a run id: only that run. */
  stop(runId?: string): Promise<ActionResult>;
  respond(toolCallId: string, answer: Answer): Promise<ActionResult>;
  restoreBranch(branchId: number): Promise<ActionResult>;
  loadOlder(): Promise<ActionResult>;
  loadUsage(): Promise<ActionResult>;
  loadBranches(): Promise<ActionResult>;
  /** Shows another thread. */
  select(threadId: string): void;
  /** Shows an empty thread, which the next turn creates. */
  newThread(): void;
  /** Deletes the thread, and shows an empty one. */
  delete(): Promise<ActionResult>;
  /** Reads the snapshot again, and connects anew. */
  refresh(): void;
  dismissError(): void;
  /** Ends the connection. The state stays. A subscription after it connects again. */
  close(): void;
}

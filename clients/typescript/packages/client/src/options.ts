// What a client is made of, and what its operations take.
import type { components } from "./types.gen.js";
import type { Attachment } from "./wire.js";

/** A value, or a function that returns it for each request. */
export type PerRequest<T> = T | (() => T | Promise<T>);

/** Headers as an object. */
export type HeaderValues = Readonly<Record<string, string>>;

/** A default path, moved. A function returns the whole URL, and `baseUrl` does not apply to it. */
export type Route = string | ((params: Readonly<Record<string, string>>) => string);

/** The places of the operations. Each one has the default of `defaultRoutes`. */
export interface Routes {
  run: Route;
  stop: Route;
  respond: Route;
  history: Route;
  /** The thread with all states that it had. */
  record: Route;
  fork: Route;
  stream: Route;
  usage: Route;
  /** The list of threads, and their changes and deletions. */
  threads: Route;
  deleteThread: Route;
  branches: Route;
  branchMessages: Route;
  restoreBranch: Route;
  events: Route;
  compact: Route;
  /** The outcome of a run: `:runId` stands for its id. */
  outcome: Route;
  streamToken: Route;
  artifacts: Route;
  /** The data of an artifact: `:artifactId` stands for its id. */
  artifact: Route;
  artifactUrl: Route;
  inbox: Route;
  inboxAnswers: Route;
  inboxLinks: Route;
}

/** The waits between attempts. Each is extended by a random part of up to a half. */
export interface Backoff {
  /** The wait after the first failure. Defaults to 500. */
  minMs?: number;
  /** The bound of the doubled wait. Defaults to 30,000. */
  maxMs?: number;
}

/** How an opener tells what arrives. */
export interface StreamHandlers {
  onOpen(): void;
  /** The data of an event, and its id, if the opener knows it. An opener that can wait waits for the result. */
  onMessage(data: string, id?: string): Promise<void> | undefined;
  /** Bytes have arrived; `keepalive`: a sign of life that is no event. It may be left out. */
  onAlive(keepalive?: boolean): void;
  /** The wait that the server asks for before a new connection. */
  onRetry(ms: number): void;
  /** The stream has failed. No call follows. */
  onError(error: unknown): void;
  /** The stream has ended. No call follows. */
  onClose(): void;
  /** The position of the reader, for an opener that connects anew by itself. `""`: the beginning. */
  getCursor(): string;
}

/** Opens an event stream. `close` ends it, without a further call of the handlers. */
export type OpenStream = (url: string, handlers: StreamHandlers) => { close(): void };

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** Where the server is, with its base path. Defaults to the origin of the page. */
  baseUrl?: string;
  /** Defaults to the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Headers of every request. */
  headers?: PerRequest<HeaderValues>;
  /**
   * The bearer token, or a function that returns it. The function is called for each request, and once more after a
   * 401, so that an expired token is replaced.
   */
  token?: string | (() => string | null | undefined | Promise<string | null | undefined>);
  /** Whether cookies are sent. Defaults to that of `fetch`: to the same origin. */
  credentials?: RequestCredentials;
  routes?: Partial<Routes>;
  /** Opens event streams. Defaults to `fetch`, which can send headers. See `eventSourceStream`. */
  openStream?: OpenStream;
  backoff?: Backoff;
  /**
   * How many characters one event of a stream may have. A larger one ends the stream with an `invalid` error whose
   * `reason` is `event_too_large`. It bounds the memory that a wrong server can take. Defaults to 64 Mi.
   */
  maxEventSize?: number;
  /**
   * How often a request that may safely arrive twice is sent again after a failure that may pass. Defaults to 3.
   */
  retries?: number;
  /**
   * Leave out the `Idempotency-Key` header and repeat no start, for a host of another origin that does not allow the
   * header. Defaults to false.
   */
  noIdempotencyKey?: boolean;
}

/** What every operation takes. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** The fields of a start that a server knows, as the server's document has them. */
export interface RunFields extends Omit<components["schemas"]["RunRequest"], "attachments" | "labels"> {
  attachments?: readonly Attachment[];
  labels?: Readonly<Record<string, string>>;
  /** Fields of the host's own, which the request has beside the others. */
  fields?: Readonly<Record<string, unknown>>;
}

/** A start. */
export type RunRequest = RunFields;

/** Options of a start. */
export interface RunOptions extends CallOptions {
  /** Lets the request arrive twice: the second one gets the first answer. The start is then repeated after a failure. */
  idempotencyKey?: string;
}

/** An answer to a park. */
export interface RespondRequest {
  toolCallId: string;
  approved: boolean;
  /** What an approved call runs with instead of its own arguments. */
  arguments?: unknown;
  /** That of the question that was shown, so that the answer counts for no other one. */
  digest?: string;
  /** Any JSON for the tool: the result of a client's tool, new totals of a budget. */
  payload?: unknown;
  /** Why, for the model and for the record. */
  reason?: string;
}

/** Which messages a snapshot has. */
export interface HistoryOptions extends CallOptions {
  /** Only the newest ones. */
  limit?: number;
  /** Only those before this message. */
  before?: string;
  /** Only those after this message. */
  lastMessageId?: string;
}

/** Which threads a list has. */
export interface ThreadFilter extends CallOptions {
  /** Threads whose title contains this. */
  title?: string;
  state?: string;
  /** Only threads whose last run has questions that nobody answered in time. */
  expired?: boolean;
  owner?: string;
  labels?: Readonly<Record<string, string>>;
  updatedAfter?: string;
  updatedBefore?: string;
  limit?: number;
  /** The `next` of the page before. */
  before?: string;
}

/** Which questions an inbox has. */
export interface InboxFilter extends CallOptions {
  threadId?: string;
  agent?: string;
  tool?: string;
  reason?: string;
  /** `open`: those that wait. `expired`: those that nobody answered in time, the last one first. Defaults to `open`. */
  state?: string;
  startedBy?: string;
  owner?: string;
  /** The oldest first, or those that expire soonest. Defaults to the oldest. */
  order?: string;
  limit?: number;
  /** The `next` of the page before. */
  after?: string;
}

/** An answer to a question of an inbox. */
export interface InboxAnswer extends RespondRequest {
  threadId: string;
  digest: string;
}

/** What an answer to a question of an inbox came to. */
export interface InboxResult {
  threadId: string;
  toolCallId: string;
  /** Whether this answer counts. */
  delivered: boolean;
  /** Why it does not count, such as `already_answered`. */
  reason?: string;
  error?: string;
  /** The code of an error: the answer is wrong, or may be sent again. */
  code?: string;
}

/** Asks for a link to one question. */
export interface InboxLinkRequest {
  threadId: string;
  toolCallId: string;
  /** Who answers with the link. The record names this subject. */
  approver: string;
  digest?: string;
  /** How long it works, such as `"2h"`, at most a day and as long as the question waits. */
  expiresIn?: string;
}

/** A change of a thread. A label that is null goes. */
export interface ThreadChange {
  title?: string;
  owner?: string;
  labels?: Readonly<Record<string, string | null>>;
}

/** A file to upload. */
export interface Upload extends CallOptions {
  name?: string;
  mediaType?: string;
}

/** Which event streams a follower reads, and how. */
export interface FollowOptions {
  /** The position: that of a view, or of the last frame. Left out: the record from its beginning. */
  cursor?: string | null;
  /** The last message that the caller has: a snapshot frame of the thread has only the messages after it. */
  lastMessageId?: string;
  /** Ends the sequence without an error. */
  signal?: AbortSignal;
  /** Called when the connection opens, is lost, and closes, with the reason and the wait. */
  onStatus?: (status: Connection, why?: { error: Error; waitMs: number }) => void;
  /** Called when a connection has said what the present state is. Some hosts say it only when it changes. */
  onPresent?: () => void;
  /** How long a connection may bring nothing before it counts as dead. Defaults to 45,000. */
  idleMs?: number;
}

/** How an event stream is. */
export type Connection = "connecting" | "open" | "reconnecting" | "closed";

// Follows a thread over as many connections as it takes.
import { backoffWait, pause, reconnectWait } from "./backoff.js";
import { StreamConnection } from "./connection.js";
import { asError, SpoolError } from "./error.js";
import type { Http } from "./http.js";
import type { Connection, FollowOptions } from "./options.js";
import { frameOf, Place } from "./place.js";
import { fetchStream } from "./stream.js";
import { onWake } from "./wake.js";
import type { Frame } from "./wire.js";

const defaultIdleMs = 45_000;
const maxIdleMs = 600_000;
/** After a wake-up, a connection that has been silent for longer than this is given up. A server sends a sign of life
 * every 15 seconds. */
const silentMs = 20_000;

/**
 * Yields the frames of a thread as they happen, each once, until the caller stops or the signal ends. It connects anew
 * whenever the stream ends, and goes on behind the last frame.
 *
 * It throws for what no further connection can help: `not_found` for a thread that does not exist or was deleted (after
 * the frame that says so), and the server's own refusal, such as `forbidden`. A 401 ends it only if the next
 * credentials are refused too.
 */
export function follow(http: Http, threadId: string, options: FollowOptions): AsyncIterable<Frame> {
  return {
    [Symbol.asyncIterator]() {
      const stop = new AbortController();
      const frames = new Follower(http, threadId, options, stop).frames();
      return {
        next: () => frames.next(),
        async return() {
          stop.abort(); // a next that waits must not keep this one waiting
          return frames.return(undefined);
        },
      };
    },
  };
}

class Follower {
  readonly #place: Place;
  #connection: StreamConnection | undefined;
  /** Ends a wait between connections. */
  #hurry = new AbortController();
  /** The wait that the server has asked for. */
  #hintMs = 0;
  #idleMs: number;
  /** The connections in a row that brought no event. */
  #failures = 0;
  #connected = false;
  /** The server sends signs of life. */
  #signs = false;
  #refused = false;
  /** The events at the present position that could not be read. */
  #garbled = 0;

  constructor(
    readonly http: Http,
    readonly threadId: string,
    readonly options: FollowOptions,
    readonly stop: AbortController,
  ) {
    this.#place = new Place(options.cursor ?? "");
    this.#idleMs = options.idleMs ?? defaultIdleMs;
  }

  async *frames(): AsyncGenerator<Frame, undefined> {
    const { options, stop } = this;
    const abort = () => stop.abort();
    if (options.signal?.aborted) abort();
    options.signal?.addEventListener("abort", abort);
    const end = () => this.#connection?.close();
    stop.signal.addEventListener("abort", end);
    const awake = onWake((cut) => this.#wake(cut));
    let status: Connection = "connecting";
    try {
      while (!stop.signal.aborted) {
        options.onStatus?.(status);
        status = "reconnecting";
        let error: SpoolError;
        try {
          yield* this.#connect();
          error = new SpoolError("unavailable", "the server has ended the stream");
        } catch (thrown) {
          error = asError(thrown);
        }
        if (stop.signal.aborted) return;
        await this.#judge(error);
        const waitMs = this.#wait(error);
        options.onStatus?.(status, { error, waitMs });
        this.#hurry = new AbortController();
        await pause(waitMs, stop.signal, this.#hurry.signal);
      }
    } finally {
      awake();
      options.signal?.removeEventListener("abort", abort);
      this.#connection?.close();
      options.onStatus?.("closed");
    }
  }

  /** Yields the frames of one connection. */
  async *#connect(): AsyncGenerator<Frame, void> {
    this.#failures++;
    const { http, options, threadId } = this;
    const url = http.url("stream", { threadId, cursor: this.#place.cursor, lastMessageId: options.lastMessageId });
    const open = http.options.openStream ?? fetchStream(http);
    const connection = new StreamConnection(open, url, () => this.#place.cursor, this.#idleMs, {
      opened: () => {
        this.#connected = true;
        this.#refused = false;
        options.onStatus?.("open");
      },
      retry: (ms) => {
        this.#hintMs = ms;
      },
    });
    this.#connection = connection;
    this.#place.reconnected();
    try {
      for (let event = await connection.next(); event && !this.stop.signal.aborted; event = await connection.next()) {
        this.#failures = 0;
        const frame = this.#read(event.data, event.id);
        if (!frame) continue;
        yield frame;
        if (frame.kind === "thread" && frame.event.type === "THREAD_DELETED") {
          throw new SpoolError("not_found", "Thread not found", { status: 404, native: true });
        }
      }
    } finally {
      this.#signs ||= connection.keepalive;
      // A host that never sends a sign of life may just have nothing to say.
      if (connection.stalled && !this.#signs) this.#idleMs = Math.min(this.#idleMs * 2, maxIdleMs);
      connection.close();
    }
  }

  /** Returns the frame of an event. Null: the caller has it, or it is of an unknown kind. */
  #read(data: string, id: string | undefined): Frame | null {
    let frame: Frame | null;
    try {
      frame = frameOf(JSON.parse(data));
    } catch (cause) {
      this.#garbled++; // something on the way may have damaged it, once
      throw new SpoolError(this.#garbled > 1 ? "internal" : "unavailable", "an event cannot be read", { cause });
    }
    if (!frame) {
      if (id !== undefined) this.#place.move(id);
      return null;
    }
    if (frame.kind !== "thread" || frame.event.seq > 0) this.#garbled = 0;
    if (frame.kind === "snapshot" || (frame.kind === "thread" && frame.event.type === "STATE_CHANGE")) {
      this.options.onPresent?.();
    }
    try {
      return this.#place.accept(frame, id);
    } catch {
      return null; // it is not what it says
    }
  }

  #wait(error: SpoolError): number {
    const asked = Math.max(this.#hintMs, error.retryAfterMs ?? 0);
    const { backoff } = this.http.options;
    return this.#failures > 0 ? backoffWait(backoff, this.#failures, asked) : reconnectWait(backoff, asked);
  }

  /** Throws an error that no further connection can help. */
  async #judge(error: SpoolError): Promise<void> {
    if (this.#final(error)) throw error;
    // An opener of the caller's own does not say which answer it got.
    if (!this.http.options.openStream || error.status !== undefined || this.#failures < 2) return;
    const url = this.http.url("history", { threadId: this.threadId, limit: 1 });
    const refusal = await this.http.json(url, { signal: this.stop.signal, repeatable: false }).then(
      () => null,
      (thrown) => asError(thrown),
    );
    if (refusal && this.#final(refusal)) throw refusal;
  }

  #final(error: SpoolError): boolean {
    const { status, code } = error;
    if (status === undefined) return ["invalid", "unauthorized", "forbidden", "not_found", "internal"].includes(code);
    if (status === 401) {
      const again = this.#refused;
      this.#refused = true;
      return again || !this.http.renewable;
    }
    if (status >= 500 || status === 408 || status === 425 || status === 429) return false;
    return error.native === true || !this.#connected;
  }

  /** Connects at once if the connection may be dead, or is being waited for. */
  #wake(cut: boolean): void {
    this.#hurry.abort();
    const connection = this.#connection;
    if (connection && (cut || Date.now() - connection.aliveAt > silentMs)) {
      connection.fail(new SpoolError("unavailable", cut ? "the network was gone" : "the device was asleep"));
    }
  }
}

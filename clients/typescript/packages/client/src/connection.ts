// One connection of a follower: what an opener pushes, to be pulled.
import { asError, SpoolError } from "./error.js";
import type { OpenStream } from "./options.js";

/** One event that has arrived. */
export interface Arrived {
  readonly data: string;
  readonly id: string | undefined;
}

/** What a connection tells while it is open. */
export interface Listener {
  opened(): void;
  retry(ms: number): void;
}

/** So many events may wait for the reader before a connection waits for it. */
const most = 500;

/** A timer with a longer wait than this fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** A connection, from its request to its end. */
export class StreamConnection {
  /** When the last byte arrived, or the connection began. */
  aliveAt = Date.now();
  /** The server has sent a sign of life that is no event, so one that sends nothing is dead. */
  keepalive = false;
  /** Nothing has arrived in time. */
  stalled = false;
  readonly #idleMs: number;
  readonly #queue: Arrived[] = [];
  readonly #stream: { close(): void } | undefined;
  #opened = false;
  #end: { error: SpoolError | null } | undefined;
  #ready: (() => void) | undefined;
  #drained: (() => void) | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;

  constructor(open: OpenStream, url: string, cursor: () => string, idleMs: number, listener: Listener) {
    this.#idleMs = Math.min(idleMs, maxTimerMs);
    this.#alive();
    this.#stream = open(url, {
      onOpen: () => {
        this.#alive();
        this.#open(listener);
      },
      onAlive: (keepalive) => {
        this.keepalive ||= keepalive === true;
        this.#alive();
      },
      onRetry: (ms) => listener.retry(ms),
      onMessage: (data, id) => {
        this.#alive();
        this.#open(listener); // an opener need not say so before
        this.#queue.push({ data, id });
        this.#ready?.();
        if (this.#queue.length < most || this.#end) return undefined;
        clearTimeout(this.#watch); // it is the reader that is slow
        return new Promise((resolve) => {
          this.#drained = resolve;
        });
      },
      onError: (error) => this.#finish(asError(error)),
      onClose: () => this.#finish(null),
      getCursor: cursor,
    });
    if (this.#end) this.#stream.close();
  }

  /** Returns the next event. Null: the stream has ended. Throws the error with which it has ended. */
  async next(): Promise<Arrived | null> {
    for (;;) {
      const event = this.#queue.shift();
      if (event) return event;
      this.#drain();
      if (this.#end) {
        if (this.#end.error) throw this.#end.error;
        return null;
      }
      await new Promise<void>((resolve) => {
        this.#ready = resolve;
      });
    }
  }

  /** Ends the connection with an error, behind what has arrived. */
  fail(error: SpoolError): void {
    this.#finish(error);
    this.close();
  }

  /** Ends the connection. What has arrived can still be read. */
  close(): void {
    this.#finish(null);
    this.#stream?.close();
    this.#drain();
  }

  #alive(): void {
    this.aliveAt = Date.now();
    clearTimeout(this.#watch);
    if (this.#end) return;
    this.#watch = setTimeout(() => {
      this.stalled = true;
      this.fail(new SpoolError("unavailable", "the stream has stalled"));
    }, this.#idleMs);
  }

  #open(listener: Listener): void {
    if (this.#opened || this.#end) return;
    this.#opened = true;
    listener.opened();
  }

  #drain(): void {
    if (!this.#drained) return;
    this.#drained();
    this.#drained = undefined;
    this.#alive();
  }

  #finish(error: SpoolError | null): void {
    this.#end ??= { error };
    clearTimeout(this.#watch);
    this.#ready?.();
  }
}

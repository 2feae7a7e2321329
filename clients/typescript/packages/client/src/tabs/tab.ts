// One tab among those that show the same thread. One of them, the leader, holds a lock and follows the thread for all.
import { cursorOf, parseCursor } from "../cursor.js";
import { asError, type ErrorFields, SpoolError } from "../error.js";
import type { Connection, FollowOptions } from "../options.js";
import { frameOf, Place } from "../place.js";
import type { Client } from "../types.js";
import type { Frame } from "../wire.js";
import { Ring } from "./ring.js";

/**
 * Counts the forms of messages. Tabs of a page that was loaded before a new version was deployed share nothing with those
 * of the new one: the number is a part of the channel's name, and of each message.
 */
const version = 2;

/** What tabs say to each other. */
type Message =
  /** To the leader: what comes behind this position? */
  | { say: "join"; from: string; cursor: string }
  /** To a tab that has joined. `frames` is null if some of them are gone. */
  | { say: "joined"; to: string; frames: readonly Frame[] | null; state: Frame | null; status: Connection }
  /** To all: another tab leads now. */
  | { say: "lead" }
  | { say: "frame"; frame: Frame }
  | { say: "status"; status: Connection; why: { code: string; message: string } | null }
  /** To all: nothing more comes. */
  | { say: "failed"; code: string; message: string; status: number | undefined; native: boolean | undefined }
  | { say: "ping" }
  | { say: "pong" };

const leaderSays = /^(joined|lead|frame|status|failed|pong)$/;

/** How often a tab asks whether the leader is there, and how long it may be silent. */
const pingMs = 5_000;
const silentMs = 12_000;

export class Tab {
  readonly #id = Math.random().toString(36).slice(2);
  readonly #place: Place;
  readonly #ring: Ring;
  readonly #channel: BroadcastChannel;
  readonly #name: string;
  readonly #closed = new AbortController();
  readonly #queue: Frame[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #leading: AbortController | null = null;
  #joined = false;
  #lastMessageAt = Date.now();
  #status: Connection = "connecting";
  #error: SpoolError | null = null;
  #ready: () => void = () => {};

  constructor(
    readonly client: Client,
    key: string,
    readonly threadId: string,
    readonly options: FollowOptions,
  ) {
    const cursor = options.cursor ?? "";
    this.#place = new Place(cursor);
    this.#ring = new Ring(cursor);
    this.#name = `spool/${version}:${key}:${threadId}`;
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.onmessage = ({ data }) => {
      if (data?.v !== version) return;
      try {
        this.#hear(data as Message);
      } catch {
        // Any page of the origin can say anything.
      }
    };
    options.onStatus?.("connecting");
    this.#timer = setInterval(() => this.#check(), pingMs);
    this.#stand(false);
    this.#join();
  }

  /** Returns the next frame. Null: the tab is closed. */
  async next(): Promise<Frame | null> {
    for (;;) {
      const frame = this.#queue.shift();
      if (frame) return frame;
      if (this.#error) throw this.#error;
      if (this.#closed.signal.aborted) return null;
      await new Promise<void>((resolve) => {
        this.#ready = resolve;
      });
    }
  }

  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(); // frees the lock, so that another tab leads
    this.#leading?.abort();
    clearInterval(this.#timer);
    this.#channel.close();
    this.#ready();
    this.options.onStatus?.("closed");
  }

  /** Waits to lead. With `steal`, at once: the tab that leads does not answer. */
  #stand(steal: boolean): void {
    const { signal } = this.#closed;
    let granted = false;
    const lead = () => {
      granted = true;
      return new Promise<void>((resolve, reject) => {
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", () => resolve());
        this.#lead().catch(reject);
      });
    };
    const options: LockOptions = steal ? { steal } : { signal };
    navigator.locks.request(this.#name, options, lead).catch(() => {
      if (signal.aborted || this.#error) return;
      if (!granted) return this.#lead(); // this document may not have locks, so it has a connection of its own
      this.#leading?.abort(); // another tab has taken the lead
      this.#leading = null;
      this.#stand(false);
      this.#join();
    });
  }

  async #lead(): Promise<void> {
    const stop = new AbortController();
    this.#leading = stop;
    this.#joined = true;
    this.#say({ say: "lead" });
    try {
      const frames = this.client.follow(this.threadId, {
        ...this.options,
        cursor: this.#place.cursor,
        signal: stop.signal,
        onStatus: (status, why) => {
          if (status === "closed" || stop.signal.aborted) return;
          if (status === "open") this.#place.reconnected();
          this.#show(status, why);
          this.#say({
            say: "status",
            status,
            why: why ? { code: asError(why.error).code, message: why.error.message } : null,
          });
        },
      });
      for await (const frame of frames) {
        if (stop.signal.aborted) return;
        this.#deliver(frame);
        this.#say({ say: "frame", frame });
      }
    } catch (thrown) {
      if (stop.signal.aborted) return;
      const error = asError(thrown);
      this.#say({
        say: "failed",
        code: error.code,
        message: error.message,
        status: error.status,
        native: error.native,
      });
      this.#fail(error);
    }
  }

  #join(): void {
    this.#joined = false;
    this.#say({ say: "join", from: this.#id, cursor: this.#place.cursor });
  }

  #hear(message: Message): void {
    if (this.#leading) {
      if (message.say === "join") {
        const frames = this.#ring.after(message.cursor);
        this.#say({ say: "joined", to: message.from, frames, state: this.#ring.state, status: this.#status });
      } else if (message.say === "ping") {
        this.#say({ say: "pong" });
      }
      return;
    }
    if (!leaderSays.test(message.say)) return;
    this.#lastMessageAt = Date.now();
    if (message.say === "lead") this.#join();
    else if (message.say === "joined" && message.to === this.#id) this.#catchUp(message);
    else if (message.say === "status") {
      const { why } = message;
      this.#show(message.status, why ? { error: new SpoolError(why.code, why.message), waitMs: 0 } : undefined);
    } else if (message.say === "frame" && this.#joined) this.#deliver(message.frame);
    else if (message.say === "failed") {
      const { code, message: text, status, native } = message;
      this.#fail(new SpoolError(code, text, { status, native } as ErrorFields));
    }
  }

  #catchUp({ frames, state, status }: Message & { say: "joined" }): void {
    if (!Array.isArray(frames)) {
      void this.#readAgain();
      return;
    }
    this.#joined = true;
    this.#place.reconnected();
    this.options.onPresent?.();
    // The state is the leader's, which has shown all of the frames; those behind them come later.
    for (const frame of frames) if (!isState(frame)) this.#deliver(frame);
    if (state) this.#deliver(state);
    this.#show(status);
  }

  /** Reads a snapshot, because the leader does not have what comes behind this tab's position. */
  async #readAgain(): Promise<void> {
    try {
      const snapshot = await this.client.history(this.threadId, { signal: this.#closed.signal });
      this.#deliver({ kind: "snapshot", snapshot, cursor: cursorOf(snapshot) });
      this.#join();
    } catch (thrown) {
      this.#fail(asError(thrown));
    }
  }

  #deliver(given: Frame): void {
    const frame = frameOf(given);
    const accepted =
      frame && this.#place.accept(frame, frame.cursor && parseCursor(frame.cursor) ? frame.cursor : undefined);
    if (!accepted) return;
    this.#ring.add(accepted);
    this.#queue.push(accepted);
    this.#ready();
  }

  #show(status: Connection, why?: { error: Error; waitMs: number }): void {
    if ((status === this.#status && !why) || !/^(connecting|open|reconnecting)$/.test(status)) return;
    this.#status = status;
    this.options.onStatus?.(status, why);
  }

  #fail(error: SpoolError): void {
    if (!this.#closed.signal.aborted) this.#error = error;
    this.close();
  }

  #say(message: Message): void {
    if (!this.#closed.signal.aborted) this.#channel.postMessage({ v: version, ...message });
  }

  /** Takes the lead from a tab that does not answer, such as one that the browser has put to sleep. */
  #check(): void {
    if (this.#leading) return;
    const silent = Date.now() - this.#lastMessageAt;
    if (silent > silentMs) {
      this.#lastMessageAt = Date.now();
      this.#stand(true);
    } else {
      this.#say({ say: "ping" });
      if (!this.#joined) this.#join();
    }
  }
}

const isState = (frame: Frame | null) => frame?.kind === "thread" && frame.event.type === "STATE_CHANGE";

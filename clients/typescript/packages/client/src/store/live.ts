// Keeps the view of a thread current: reads the snapshot, follows from it, and reads it again when that is needed.
import { backoffWait, pause } from "../backoff.js";
import { asError, isGone, passing, SpoolError } from "../error.js";
import type { FollowOptions } from "../options.js";
import { reduce } from "../reduce/reduce.js";
import { onWake } from "../wake.js";
import type { Frame } from "../wire.js";
import type { Core } from "./core.js";
import { Missed } from "./missed.js";
import { report } from "./report.js";
import { nextFrame } from "./schedule.js";

/** How long a new connection may take to say what the present state is. */
const greetingMs = 5_000;

/** Follows a thread. The client's own, or one that tabs share. */
export type Follow = (threadId: string, options: FollowOptions) => AsyncIterable<Frame>;

/** What a connection does for its store. */
export interface Hooks {
  /** A snapshot or a frame that changes more than the view has been shown. */
  shown(frames: readonly Frame[]): void;
  /** The thread is gone. */
  gone(error: SpoolError): void;
}

/** The connection of a store to one thread. */
export class Live {
  readonly #stop = new AbortController();
  readonly #pending: Frame[] = [];
  readonly #missed: Missed;
  #scheduled = false;
  /** Ends the present attempt or the wait behind it, so that the next attempt begins. */
  #again = new AbortController();
  #phase: "read" | "follow" | "wait" = "wait";
  #stale = false;
  /** Nothing has come on this connection. */
  #begins = false;
  /** No further attempt follows. */
  ended = false;

  constructor(
    readonly core: Core,
    readonly threadId: string,
    readonly follow: Follow,
    readonly hooks: Hooks,
  ) {
    this.#missed = new Missed(core, threadId, this.#stop.signal);
    void this.#run();
  }

  /** Ends the connection. What has arrived is shown. */
  close(): void {
    this.#flush();
    this.#stop.abort();
  }

  /** Reads the snapshot again, and connects anew. */
  refresh(): void {
    this.#stale = true;
    this.#again.abort();
  }

  get #closed(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    this.core.set({ connection: "connecting" });
    // A follow wakes up by itself.
    const awake = onWake((cut) => {
      if (this.#phase === "wait" || (cut && this.#phase === "read")) this.#again.abort();
    });
    const stop = () => this.#again.abort();
    this.#stop.signal.addEventListener("abort", stop);
    for (let failures = 1; !this.#closed; failures++) {
      this.#again = new AbortController();
      const error = await this.#once(() => {
        failures = 1;
      });
      if (this.#closed) break;
      if (!error) {
        failures = 0; // the snapshot is wanted
        continue;
      }
      // An event that stays unreadable is behind the next snapshot. A 404 that is not the server's may pass.
      const passes = passing(error) || error.code === "internal" || (error.status === 404 && error.native === false);
      if (isGone(error) || !passes) {
        this.ended = true;
        this.#flush();
        if (isGone(error)) this.hooks.gone(error);
        else this.core.set({ error, connectionError: error, connection: "closed", loading: false });
        break;
      }
      this.#stale ||= error.code === "internal";
      // A server that cannot be reached may be back soon. One that answers something else has to be looked at.
      this.core.set({ connection: "reconnecting", connectionError: error, ...(!passing(error) && { error }) });
      this.#phase = "wait";
      await pause(backoffWait(undefined, failures, error.retryAfterMs ?? 0), this.#again.signal);
    }
    awake();
    this.#stop.signal.removeEventListener("abort", stop);
  }

  /** Reads the snapshot if it is needed, and follows. Returns why that has ended. Null: to read the snapshot again. */
  async #once(works: () => void): Promise<SpoolError | null> {
    const { core, threadId } = this;
    const { signal } = this.#again;
    let fresh = false;
    let greeting: ReturnType<typeof setTimeout> | undefined;
    try {
      if (core.state.view.cursor === null || this.#stale) {
        this.#phase = "read";
        await this.#snapshot(signal);
        fresh = true;
      }
      if (signal.aborted) return null;
      this.#phase = "follow";
      const frames = this.follow(threadId, {
        cursor: core.state.view.cursor,
        signal,
        onStatus: (status, why) => {
          clearTimeout(greeting);
          if (status === "closed" || this.#closed) return;
          const connectionError = status === "open" ? null : why ? asError(why.error) : core.state.connectionError;
          core.set({ connection: status, connectionError });
          if (status !== "open") return;
          this.#begins = true;
          // A host that does not say what the state is after a reconnect has to be asked.
          if (!fresh && !core.greeted) greeting = setTimeout(() => this.refresh(), greetingMs);
          fresh = false;
        },
        onPresent: () => clearTimeout(greeting),
      });
      for await (const frame of frames) {
        works();
        this.#enqueue(frame);
      }
      return null;
    } catch (thrown) {
      this.#stale ||= this.#phase === "read"; // there is still no snapshot
      return signal.aborted ? null : asError(thrown);
    } finally {
      clearTimeout(greeting);
    }
  }

  async #snapshot(signal: AbortSignal): Promise<void> {
    const { core, threadId } = this;
    const limit = core.options.pageSize;
    this.#stale = false; // a refresh from now on wants a newer one
    const snapshot = await core.client.history(threadId, { signal, ...(limit !== undefined && { limit }) });
    if (signal.aborted) return;
    if (!snapshot?.thread) throw new SpoolError("internal", "the answer is not that of an agent server");
    this.#pending.length = 0; // the snapshot has them
    const hasOlder = limit !== undefined && snapshot.messages.length === limit;
    const error = core.state.error === core.state.connectionError ? null : core.state.error;
    core.show(reduce(core.state.view, snapshot), { loading: false, hasOlder, error });
    this.hooks.shown([]);
  }

  #enqueue(frame: Frame): void {
    const { onFrame, onCustom, schedule = nextFrame } = this.core.options;
    report(() => {
      onFrame?.(frame);
      if (frame.kind === "stream" && frame.item.type === "CUSTOM") onCustom?.(frame.item.name, frame.item.value);
      if (frame.kind === "thread" && "published" in frame.event && frame.event.published === true) {
        onCustom?.(frame.event.type, frame.event.payload);
      }
    });
    if (this.#begins) {
      // Only a host that says what the state is on each connection says it without a change.
      const state =
        frame.kind === "thread" && frame.event.type === "STATE_CHANGE" ? frame.event.payload?.state : undefined;
      this.core.greeted ||= state === this.core.state.view.thread.state && this.#pending.length === 0;
      this.#begins = false;
    }
    this.#pending.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    schedule(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Shows what has arrived. */
  #flush(): void {
    if (this.#closed || this.#pending.length === 0) return;
    const frames = this.#pending.splice(0);
    const view = frames.reduce(reduce, this.core.state.view);
    const whole = frames.some((f) => f.kind === "snapshot" && f.snapshot.afterMessageId == null);
    this.core.show(view, whole ? { hasOlder: false, loading: false } : {});
    this.hooks.shown(frames);
    this.#missed.look();
  }
}

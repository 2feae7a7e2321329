// The state of a thread behind a commit: everything that the deltas up to it say.
import type { Message, QueuedRun, Run, Snapshot, Thread, ThreadEvent } from "../wire.js";
import { isActive } from "../wire.js";
import { betweenMs } from "./time.js";
import type { DeltaRun, DeltaThread, SnapshotDelta, ViewChange } from "./types.js";

/** How many runs a snapshot has. */
const maxRuns = 100;

/** What all states of one record share. */
export interface Source {
  readonly messages: ReadonlyMap<string, Message>;
  /** The entries of each run. */
  readonly entries: ReadonlyMap<string, readonly ThreadEvent[]>;
}

/** What a state begins with. */
export interface Base {
  readonly seq: number;
  readonly at: string;
  readonly thread: Thread;
  /** The run that has the thread, or had it last. */
  readonly runId: string;
  readonly view: readonly Message[];
  readonly branches: ReadonlyMap<number, readonly Message[]>;
  /** In the order in which they were made. */
  readonly runs: readonly Run[];
}

interface RunState {
  readonly run: Run;
  readonly place: number;
  readonly wait: DeltaRun["wait"];
}

/** A state that goes on, delta by delta. */
export class Fold {
  version = 0;
  #seq: number;
  #at: string;
  #thread: Thread;
  #runId: string;
  #runs: RunState[];
  /** The index of each run. */
  #places: Map<string, number>;
  #view: Message[];
  #branches: Map<number, readonly Message[]>;
  /** The parks that are open or pending. */
  #parks = new Map<string, string>();
  /** The lists of the last snapshot, for as long as they hold. */
  #shown: { messages?: Message[] | undefined; runs?: Run[] | undefined } = {};

  constructor(
    readonly source: Source,
    base: Base,
  ) {
    this.#seq = base.seq;
    this.#at = base.at;
    this.#thread = base.thread;
    this.#runId = base.runId;
    this.#runs = base.runs.map((run) => ({ run, place: 0, wait: undefined }));
    this.#places = new Map(base.runs.map((run, i) => [run.id, i]));
    this.#view = base.view.slice();
    this.#branches = new Map(base.branches);
  }

  clone(): Fold {
    const other = new Fold(this.source, {
      seq: this.#seq,
      at: this.#at,
      thread: this.#thread,
      runId: this.#runId,
      view: this.#view,
      branches: this.#branches,
      runs: [],
    });
    other.version = this.version;
    other.#runs = this.#runs.slice();
    other.#places = new Map(this.#places);
    other.#parks = new Map(this.#parks);
    other.#shown = this.#shown;
    return other;
  }

  /** Goes on to the next version. */
  apply(delta: SnapshotDelta): void {
    this.version = delta.version;
    this.#seq = delta.seq;
    this.#at = delta.at;
    if (delta.thread) {
      this.#thread = threadOf(this.#thread, delta.thread);
      this.#runId = delta.runId ?? "";
    }
    if (delta.runs) {
      for (const run of delta.runs) this.#applyRun(run);
      this.#shown = { ...this.#shown, runs: undefined };
    }
    if (delta.view) {
      for (const change of delta.view) this.#applyView(change);
      this.#shown = { ...this.#shown, messages: undefined };
    }
    for (const { runId, toolCallId, state } of delta.parks ?? []) {
      const key = keyOf(runId, toolCallId);
      if (state === "open" || state === "pending") this.#parks.set(key, state);
      else this.#parks.delete(key);
    }
  }

  #applyRun(delta: DeltaRun): void {
    const { place = 0, wait, durationMs: _, queuedMs: __, ...fields } = delta;
    const at = this.#places.get(fields.id);
    const old = at === undefined ? undefined : this.#runs[at];
    const run = shownRun({
      ...fields,
      ...(!fields.prompt && old?.run.prompt !== undefined && { prompt: old.run.prompt }),
      ...(!fields.result && old?.run.result !== undefined && { result: old.run.result }),
    });
    const next: RunState = { run, place, wait: wait ?? old?.wait };
    if (at !== undefined) {
      this.#runs[at] = next;
      return;
    }
    this.#places.set(run.id, this.#runs.push(next) - 1);
  }

  #applyView({ add, drop, restore, from }: ViewChange): void {
    if (drop) {
      const at = this.#view.findLastIndex((m) => m.id === from);
      if (at >= 0) this.#branches.set(drop, this.#view.splice(at));
    }
    if (restore) {
      for (const message of this.#branches.get(restore) ?? []) this.#view.push(message);
      this.#branches.delete(restore);
    }
    for (const id of add ?? []) {
      const message = this.source.messages.get(id);
      if (message) this.#view.push(message);
    }
  }

  snapshot(): Snapshot {
    const active = isActive(this.#thread.state);
    this.#shown.messages ??= this.#view.slice();
    this.#shown.runs ??= this.#runs
      .slice(-maxRuns)
      .reverse()
      .map(({ run }) => run);
    const queue = active ? this.#queue() : [];
    const { expired: _, ...thread } = this.#thread;
    const expired = this.#runs[this.#places.get(this.#runId) ?? -1]?.run.expired; // the thread has the mark of its run
    return {
      thread: { ...thread, ...(expired && { expired }), updatedAt: this.#at },
      messages: this.#shown.messages,
      runs: this.#shown.runs,
      lastEventSeq: this.#seq > 0 ? this.#seq : -1,
      activeEvents: active ? this.#activeEvents() : [],
      ...(queue.length > 0 && { queue }),
      stream: null,
    };
  }

  #queue(): QueuedRun[] {
    return this.#runs
      .filter(({ place }) => place > 0)
      .sort((a, b) => a.place - b.place)
      .map(
        ({ run, wait }, i) =>
          ({ runId: run.id, position: i + 1, ...wait, enqueuedAt: run.enqueuedAt ?? "" }) as QueuedRun,
      );
  }

  /**
   * The entries of the run that has the thread, without those about calls that no longer wait, and without MESSAGES_DROPPED,
   * which the messages have.
   */
  #activeEvents(): ThreadEvent[] {
    const entries = (this.source.entries.get(this.#runId) ?? []).filter((e) => e.seq <= this.#seq);
    const last = new Map<unknown, number>();
    for (const e of entries) {
      if (e.type === "INPUT_REQUIRED" || e.type === "CALL_PENDING") last.set(callOf(e), e.seq);
    }
    return entries.filter((e) => {
      const wanted = waits[e.type];
      if (!wanted) return e.type !== "MESSAGES_DROPPED";
      const call = callOf(e);
      return this.#parks.get(keyOf(this.#runId, call)) === wanted && e.seq >= (last.get(call) ?? 0);
    });
  }
}

/** The thread with other fields that may change. */
export function threadOf(thread: Thread, { state, model, title, owner, labels }: DeltaThread): Thread {
  const { owner: _, labels: __, ...same } = thread;
  return { ...same, state: state as Thread["state"], model, title, ...(owner && { owner }), ...(labels && { labels }) };
}

/** The entries about a call, and the state that its park has for as long as they count. */
const waits: Readonly<Record<string, string | undefined>> = {
  INPUT_REQUIRED: "open",
  INPUT_EXPIRING: "open",
  INPUT_EXTENDED: "open",
  INPUT_EXPIRED: "open",
  HITL_RESPONSE: "open",
  CALL_PENDING: "pending",
};

const keyOf = (runId: string, toolCallId: string) => `${runId} ${toolCallId}`;

function callOf(e: ThreadEvent): string {
  const payload = e.payload as { toolCallId?: unknown } | null;
  return typeof payload?.toolCallId === "string" ? payload.toolCallId : "";
}

/** The run as a snapshot has it. */
function shownRun(run: Run): Run {
  const durationMs = run.endedAt === undefined ? 0 : betweenMs(run.startedAt, run.endedAt);
  const queuedMs = run.enqueuedAt === undefined ? 0 : betweenMs(run.enqueuedAt, run.startedAt);
  return { ...run, ...(durationMs !== 0 && { durationMs }), ...(queuedMs !== 0 && { queuedMs }) };
}

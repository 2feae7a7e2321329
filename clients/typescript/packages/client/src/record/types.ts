// The record of a thread, as GET /api/agent/record and `spool run export` write it.
import type { components } from "../types.gen.js";
import type { Message, Run, Snapshot, Thread, ThreadEvent } from "../wire.js";

type Schemas = components["schemas"];

/** What one commit changed of what a snapshot of the thread shows. */
export type SnapshotDelta = Schemas["SnapshotDelta"];
/** A run in a {@link SnapshotDelta}. Without a prompt, a result or a `wait`, these did not change. */
export type DeltaRun = Schemas["DeltaRun"];
/** A question or a wait in a {@link SnapshotDelta}. */
export type DeltaPark = Schemas["DeltaPark"];
/** What may change of the thread. */
export type DeltaThread = Schemas["DeltaThread"];
/** A change of the view of messages. It has one of `add`, `drop` and `restore`. */
export type ViewChange = Schemas["ViewChange"];

/** A state that the thread had: what one commit left behind. */
export interface RecordVersion {
  /** Without gaps. From 1, and from 0 for a thread that is older than the first delta: see {@link ThreadRecord.versions}. */
  readonly version: number;
  /** The last seq of the record. 0: it was empty. */
  readonly seq: number;
  /** When the commit happened. */
  readonly at: string;
  /** What the commit changed. */
  readonly delta: SnapshotDelta;
  /** The entries that the commit wrote. */
  readonly entries: readonly ThreadEvent[];
}

/** A thread with all states that it had. It does not change. */
export interface ThreadRecord {
  /** The thread as it was when the record was read from the store. */
  readonly thread: Thread;
  /**
   * The states of the thread, the oldest first. There is at least one. Of a thread that the server had before it kept
   * what commits change, the first one is version 0: the state at that time, whose delta is empty.
   */
  readonly versions: readonly RecordVersion[];
  /** The runs as they are now, the oldest first. */
  readonly runs: readonly Run[];
  /** All entries of the record. */
  readonly entries: readonly ThreadEvent[];
  /** All messages by their ids, also those of branches. */
  readonly messages: ReadonlyMap<string, Message>;
  /**
   * The snapshot of the thread as it was behind a commit, without a stream. What two versions have in common is the
   * same object. It throws a `RangeError` for a version that does not exist.
   */
  at(version: number): Snapshot;
  /** The first version whose seq is at least this one, which is the state behind an entry. Undefined: there is none. */
  versionOf(seq: number): number | undefined;
}

/** Where a record is read from: a text, a file, an answer, or any stream of bytes or texts. */
export type RecordSource = string | Blob | Response | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

/** How a record is read. */
export interface ReadRecordOptions {
  /** How many characters a line may have. A longer one is an error. Defaults to 64 Mi. */
  maxLine?: number;
  signal?: AbortSignal;
}

import type { Message, Run, Snapshot, Thread, ThreadEvent } from "../wire.js";
import { type Base, Fold, threadOf } from "./fold.js";
import { isBefore } from "./time.js";
import type { RecordVersion, SnapshotDelta, ThreadRecord } from "./types.js";

/** What a record has, in the order of the file. */
export interface RecordFile {
  thread: Thread;
  runId: string;
  readonly runs: Run[];
  /** The messages of the view, in order. */
  readonly view: Message[];
  /** The messages of each branch, in order. */
  readonly branches: Map<number, Message[]>;
  readonly entries: ThreadEvent[];
  readonly deltas: SnapshotDelta[];
}

/** Returns the record of a file. */
export function recordOf(file: RecordFile): ThreadRecord {
  const messages = new Map(file.view.map((m) => [m.id, m]));
  for (const branch of file.branches.values()) for (const m of branch) messages.set(m.id, m);
  const base = baseOf(file);
  const whole = base.view.length === 0 && base.runs.length === 0 && file.deltas.length > 0;
  const { seq, at } = base;
  const begin: SnapshotDelta[] = whole ? [] : [{ version: 0, seq, at }];
  const versions = versionsOf([...begin, ...file.deltas], file.entries);
  const fold = folding(new Fold({ messages, entries: grouped(file.entries) }, base), file.deltas);
  return {
    thread: file.thread,
    versions,
    runs: file.runs,
    entries: file.entries,
    messages,
    at(version) {
      const [first = 0, last = 0] = [versions[0]?.version, versions.at(-1)?.version];
      if (!Number.isInteger(version) || version < first || version > last) {
        throw new RangeError(`there is no version ${version}: the thread has ${first} to ${last}`);
      }
      return fold(version);
    },
    versionOf(seq) {
      return versions[firstAt(versions, (v) => v.seq >= seq && v.version > 0)]?.version;
    },
  };
}

/**
 * Folds to any version. The last state goes on to a later one, and every now and then a state is kept, from which an
 * earlier one follows. There are at most some hundred of them, however long the record is.
 */
function folding(base: Fold, deltas: readonly SnapshotDelta[]): (version: number) => Snapshot {
  const step = Math.max(64, Math.ceil(deltas.length / 128));
  const kept: Fold[] = [base.clone()];
  let now = base;
  return (version) => {
    const nearest = kept[Math.min(kept.length - 1, Math.floor(version / step))] as Fold;
    if (now.version > version || now.version < nearest.version) now = nearest.clone();
    for (const delta of deltas.slice(now.version, version)) {
      now.apply(delta);
      if (now.version === kept.length * step) kept.push(now.clone());
    }
    return now.snapshot();
  };
}

function versionsOf(deltas: readonly SnapshotDelta[], entries: readonly ThreadEvent[]): RecordVersion[] {
  let at = 0;
  return deltas.map((delta) => {
    const from = at;
    while (at < entries.length && (entries[at] as ThreadEvent).seq <= delta.seq) at++;
    return { version: delta.version, seq: delta.seq, at: delta.at, delta, entries: entries.slice(from, at) };
  });
}

/** The state before the first version: the present one without everything that the deltas did. */
function baseOf({ thread, runId, runs, view: present, branches: left, entries, deltas }: RecordFile): Base {
  const view = present.slice();
  const branches = new Map<number, readonly Message[]>(left);
  for (const { add, drop, restore, from } of deltas.flatMap((d) => d.view ?? []).toReversed()) {
    if (add) view.splice(Math.max(0, view.length - add.length));
    if (restore) {
      const at = view.findLastIndex((m) => m.id === from);
      branches.set(restore, at < 0 ? [] : view.splice(at));
    }
    if (drop) {
      for (const message of branches.get(drop) ?? []) view.push(message);
      branches.delete(drop);
    }
  }
  const changed = new Set(deltas.flatMap((d) => d.runs?.map((run) => run.id) ?? []));
  const known = deltas.find((d) => d.thread);
  const [first] = deltas;
  const before = entries.findLast((e) => !first || (e.seq <= first.seq && isBefore(e.createdAt, first.at)));
  return {
    seq: before?.seq ?? 0,
    at: first?.at ?? thread.updatedAt,
    thread: known?.thread ? threadOf(thread, known.thread) : thread,
    runId: known ? (known.runId ?? "") : runId,
    view,
    branches,
    runs: runs.filter((run) => !changed.has(run.id)),
  };
}

function grouped(entries: readonly ThreadEvent[]): Map<string, ThreadEvent[]> {
  const groups = new Map<string, ThreadEvent[]>();
  for (const e of entries) {
    const group = groups.get(e.runId ?? "");
    if (group) group.push(e);
    else groups.set(e.runId ?? "", [e]);
  }
  return groups;
}

/** The index of the first element that matches, in a list where all that match come last. */
function firstAt<T>(list: readonly T[], matches: (value: T) => boolean): number {
  let from = 0;
  let to = list.length;
  while (from < to) {
    const mid = (from + to) >> 1;
    if (matches(list[mid] as T)) to = mid;
    else from = mid + 1;
  }
  return from;
}

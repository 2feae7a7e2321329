import { asError, errorOf, SpoolError } from "../error.js";
import type { Message, Run, Thread, ThreadEvent } from "../wire.js";
import { linesOf } from "./lines.js";
import { type RecordFile, recordOf } from "./record.js";
import type { ReadRecordOptions, RecordSource, SnapshotDelta, ThreadRecord } from "./types.js";

/** The newest form of the file that this package reads. */
const formatVersion = 1;

/** A line as it comes. */
interface Line {
  readonly kind?: unknown;
  readonly format?: unknown;
  readonly formatVersion?: unknown;
  readonly thread?: Thread;
  readonly runId?: unknown;
  readonly run?: Run;
  readonly message?: Message;
  readonly branch?: unknown;
  readonly entry?: ThreadEvent;
  readonly delta?: SnapshotDelta;
  readonly version?: unknown;
}

/**
 * Reads the record of a thread: what `client.record()` returns, and the file of `spool run export`. It reads as the data
 * come, and keeps all of it in memory.
 *
 * It throws a {@link SpoolError} of the code `invalid` that names the line, if the text is not a record (then the
 * error's `reason` is `not_a_record`), has a form that this package does not know, or was cut.
 */
export async function readRecord(source: RecordSource, options: ReadRecordOptions = {}): Promise<ThreadRecord> {
  const { signal, maxLine = 64 << 20 } = options;
  if (typeof Response !== "undefined" && source instanceof Response && !source.ok) {
    throw errorOf(source, await source.text());
  }
  let file: RecordFile | null = null;
  let ended = false;
  let n = 0;
  const fail = (text: string): never => {
    throw new SpoolError("invalid", `line ${n} of the record: ${text}`);
  };
  try {
    for await (const lines of linesOf(source, maxLine)) {
      signal?.throwIfAborted();
      for (const text of lines) {
        n++;
        if (text.trim() === "") continue;
        if (file === null) {
          file = begun(text);
          continue;
        }
        const line = parsed(text) ?? fail("it is not a JSON object, so the file is damaged or was cut here");
        if (ended) fail("it comes after the end");
        if (line.kind === "end") {
          const last = file.deltas.length;
          if (line.version !== last) fail(`the end has the version ${line.version}, and the last delta ${last}`);
          ended = true;
        } else {
          addLine(file, line, fail);
        }
      }
    }
  } catch (thrown) {
    throw asError(thrown, signal, "the record cannot be read to its end");
  }
  if (file === null) throw notRecord("it is empty");
  if (!ended) throw new SpoolError("invalid", `the record was cut after line ${n}: its end is missing`);
  checkMessages(file);
  return recordOf(file);
}

/** Every message that a delta adds is there. */
function checkMessages({ view, branches, deltas }: RecordFile): void {
  const known = new Set([...view, ...[...branches.values()].flat()].map((m) => m.id));
  for (const { version, view } of deltas) {
    const lost = view?.flatMap((change) => change.add ?? []).find((id) => !known.has(id));
    if (lost !== undefined)
      throw new SpoolError("invalid", `the record lacks the message ${lost} of version ${version}`);
  }
}

/** Returns the file that begins with a line. */
function begun(text: string): RecordFile {
  const line = parsed(text);
  if (line?.kind !== "thread" || line.format !== "spool.record") throw notRecord("its first line does not say so");
  if (typeof line.formatVersion !== "number" || line.formatVersion > formatVersion) {
    const known = `the format version ${line.formatVersion}, and this reader knows ${formatVersion}`;
    throw new SpoolError("invalid", `line 1 of the record: it has ${known}`);
  }
  if (typeof line.thread?.id !== "string") throw new SpoolError("invalid", "line 1 of the record: it has no thread");
  return {
    thread: line.thread,
    runId: typeof line.runId === "string" ? line.runId : "",
    runs: [],
    view: [],
    branches: new Map(),
    entries: [],
    deltas: [],
  };
}

/** Adds a line to the file. Kinds that are not known are ignored. */
function addLine(file: RecordFile, line: Line, fail: (text: string) => never): void {
  switch (line.kind) {
    case "thread":
      fail("a record has one thread");
      return;
    case "run":
      file.runs.push(typeof line.run?.id === "string" ? line.run : fail("the run has no id"));
      return;
    case "message": {
      const message = typeof line.message?.id === "string" ? line.message : fail("the message has no id");
      if (line.branch === undefined) {
        file.view.push(message);
      } else if (typeof line.branch !== "number") {
        fail("the branch is not a number");
      } else {
        const branch = file.branches.get(line.branch);
        if (branch) branch.push(message);
        else file.branches.set(line.branch, [message]);
      }
      return;
    }
    case "entry":
      file.entries.push(typeof line.entry?.seq === "number" ? line.entry : fail("the entry has no seq"));
      return;
    case "delta": {
      const next = file.deltas.length + 1;
      const delta = line.delta;
      const whole = typeof delta?.seq === "number" && typeof delta.at === "string";
      if (delta?.version !== next) fail(`the delta has the version ${delta?.version}, and ${next} comes next`);
      file.deltas.push(whole ? delta : fail("the delta has no seq or time"));
    }
  }
}

function notRecord(why: string): SpoolError {
  return new SpoolError("invalid", `this is not the record of a thread: ${why}`, { reason: "not_a_record" });
}

function parsed(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// The runs that a view knows.
import { merged, put, same } from "../fold/share.js";
import type { ThreadView, ViewRun } from "../view.js";
import { isActive, type State } from "../wire.js";

/** A run of which only the id is known. */
export function newRun(id: string, threadId: string): ViewRun {
  const none = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, totalTokens: 0, steps: 0, attempts: 0 };
  return { id, threadId, depth: 0, agent: "", model: "", state: "" as ViewRun["state"], ...none };
}

/**
 * The view with a run in the place of the one that it knows. A new one that is nested is the newest of its family, and any
 * other stands behind those that are newer than it. A run that does not say when it was accepted is as old as the entry
 * that it came with, whose time is `began`. `""`: it is the newest.
 */
export function withRun(view: ThreadView, run: ViewRun, began = ""): ThreadView {
  const { runs } = view;
  const known = runs.findIndex((r) => r.id === run.id);
  if (known >= 0) return { ...view, runs: runs.with(known, run) };
  if (run.parentRunId) return { ...view, runs: byFamily([run, ...runs]) };
  const at = runs.findLastIndex((r) => !r.parentRunId && isNewer(r, run, began)) + 1;
  return { ...view, runs: runs.toSpliced(at, 0, run) };
}

/**
 * Whether a known run was accepted after another one. If one of them does not say when that was: whether the known run
 * began after a time.
 */
function isNewer(known: ViewRun, run: ViewRun, began: string): boolean {
  if (known.enqueuedAt && run.enqueuedAt) return isLater(known.enqueuedAt, run.enqueuedAt);
  return isLater(known.startedAt ?? known.enqueuedAt ?? "", began);
}

/** Whether a time is after another one. Servers write microseconds, and a Date has only milliseconds. */
function isLater(a: string, b: string): boolean {
  const by = Date.parse(a) - Date.parse(b);
  return by > 0 || (by === 0 && a.replace("Z", "") > b.replace("Z", ""));
}

/**
 * Runs with those of one family together: a dispatched run, and before it the runs nested in it, the newest first. A
 * snapshot has them in the order in which the store got them, with runs in between that were accepted meanwhile. No frame
 * tells a client that follows where these are.
 */
export function byFamily(runs: readonly ViewRun[]): readonly ViewRun[] {
  const place = new Map<string, number>();
  const at = (run: ViewRun) => place.get(run.parentRunId || run.id);
  for (const [i, run] of [...runs.entries()].toReversed()) {
    const of = at(run) ?? i; // a run comes before those nested in it
    place.set(run.parentRunId || run.id, of).set(run.id, of);
  }
  return runs.toSorted((a, b) => Number(at(a)) - Number(at(b)));
}

type Fields = Parameters<typeof merged<ViewRun>>[1];

/** The view with other fields of a run, which is added if it is new. */
export function withRunFields(view: ThreadView, id: string, fields: Fields, began?: string): ThreadView {
  if (view.runs.some((r) => r.id === id)) return changedRun(view, id, fields);
  return withRun(view, merged(newRun(id, view.thread.id), fields), began);
}

/** The view with other fields of a run that it knows. */
export function changedRun(view: ThreadView, id: string, fields: Fields): ThreadView {
  const run = view.runs.find((r) => r.id === id);
  const changed = run && merged(run, fields);
  return changed && !same(run, changed) ? { ...view, runs: put(view.runs, changed, (r) => r.id === id) } : view;
}

/**
 * The view after the end of a segment, as far as it is about the runs nested in its run: it parks when each of them has
 * ended or waits.
 */
export function parkedNested(view: ThreadView, runId: string, status: unknown): ThreadView {
  if (status !== "parked" || !runId) return view;
  const of = family(view.runs, runId);
  const state = "WAITING_FOR_INPUT";
  return view.runs
    .filter((run) => run.id !== runId && of.has(run.id) && isActive(run.state as State))
    .reduce((next, run) => changedRun(next, run.id, { state }), view);
}

/** A run and the runs nested in it, at any depth. */
export function family(runs: readonly ViewRun[], root: string): ReadonlySet<string> {
  const of = new Set<string>(root ? [root] : []);
  for (let size = -1; size !== of.size; ) {
    size = of.size;
    for (const run of runs) if (run.parentRunId && of.has(run.parentRunId)) of.add(run.id);
  }
  return of;
}

// The runs that a view knows.
import type { ThreadView, ViewRun } from "../view.js";
import { isActive, type State } from "../wire.js";
import { merged, put, same } from "./share.js";

/** A run of which only the id is known. */
export function newRun(id: string, threadId: string): ViewRun {
  const none = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, totalTokens: 0, steps: 0, attempts: 0 };
  return { id, threadId, depth: 0, agent: "", model: "", state: "" as ViewRun["state"], ...none };
}

/**
 * The view with a run in the place of the one that it knows. A new one stands before the run `root` and those nested in
 * it. If the view does not have these, it is the newest but for those that began after a time.
 */
export function withRun(view: ThreadView, run: ViewRun, root = "", began = ""): ThreadView {
  const { runs } = view;
  let at = runs.findIndex((r) => r.id === run.id);
  if (at >= 0) return { ...view, runs: runs.with(at, run) };
  const of = family(runs, root);
  at = runs.findIndex((r) => of.has(r.id));
  if (at < 0) at = runs.findIndex((r) => !(Date.parse(r.startedAt ?? r.enqueuedAt ?? "") > Date.parse(began)));
  return { ...view, runs: runs.toSpliced(at < 0 ? runs.length : at, 0, run) };
}

type Fields = Parameters<typeof merged<ViewRun>>[1];

/** The view with other fields of a run, which is added if it is new. */
export function toldRun(view: ThreadView, id: string, fields: Fields, root = id, began?: string): ThreadView {
  const known = view.runs.some((r) => r.id === id);
  return changedRun(known ? view : withRun(view, newRun(id, view.thread.id), root, began), id, fields);
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

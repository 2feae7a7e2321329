// The runs that a view knows.
import type { ThreadView, ViewRun } from "../view.js";
import { merged, put, replaced, same } from "./share.js";

/** A run of which only the id is known. */
export function newRun(id: string, threadId: string): ViewRun {
  const none = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, totalTokens: 0, steps: 0, attempts: 0 };
  return { id, threadId, depth: 0, agent: "", model: "", state: "" as ViewRun["state"], ...none };
}

/** The view with a run in the place of the one that it knows, or as the newest. */
export function withRun(view: ThreadView, run: ViewRun): ThreadView {
  const at = view.runs.findIndex((r) => r.id === run.id);
  return { ...view, runs: at < 0 ? [run, ...view.runs] : replaced(view.runs, at, run) };
}

/** The view with other fields of a run that it knows. */
export function changedRun(view: ThreadView, id: string, fields: Parameters<typeof merged<ViewRun>>[1]): ThreadView {
  const run = view.runs.find((r) => r.id === id);
  const changed = run && merged(run, fields);
  return changed && !same(run, changed) ? { ...view, runs: put(view.runs, changed, (r) => r.id === id) } : view;
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

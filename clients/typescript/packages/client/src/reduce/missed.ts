// The runs whose end no frame has reported, because the client was away.
import { having, shared } from "../fold/share.js";
import type { ThreadView, ViewRun } from "../view.js";
import type { State } from "../wire.js";
import { isActive, isOver } from "../wire.js";

/**
 * The runs whose present state a view lacks: runs that it shows as active though another run has the thread, active runs
 * that are nested in a run that is over, and, unless the host has no times, runs whose end only an entry has reported.
 * Only a snapshot has their state.
 */
export function untold(view: ThreadView, timed = true): readonly ViewRun[] {
  const { runs, queue, reading } = view;
  if (!reading.runId) return []; // nothing has come behind the snapshot
  return runs.filter((run) => {
    if (!isActive(run.state as State)) {
      return timed && !run.endedAt && run.depth === 0 && run.id !== reading.runId && run.stopReason !== "steered";
    }
    const root = rootOf(runs, run);
    if (queue.some((q) => q.runId === root.id)) return false;
    return root.id !== reading.runId || !isActive(root.state as State);
  });
}

/** The view with such runs as a snapshot has them, if they are over there. */
export function settledRuns(view: ThreadView, fetched: readonly ViewRun[]): ThreadView {
  const missing = new Set(untold(view));
  const over = new Map(fetched.filter((run) => isOver(run.state as State)).map((run) => [run.id, run]));
  const runs = view.runs.map((run) => (missing.has(run) && over.get(run.id)) || run);
  return having(view, { runs: shared(view.runs, runs, (run) => run.id) });
}

/** The dispatched run of a nested one, as far up as the list goes. */
function rootOf(runs: readonly ViewRun[], run: ViewRun): ViewRun {
  const parent = run.parentRunId && runs.find((other) => other.id === run.parentRunId && other.depth < run.depth);
  return parent ? rootOf(runs, parent) : run;
}

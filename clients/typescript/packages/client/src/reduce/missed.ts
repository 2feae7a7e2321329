// The runs of which frames do not say how they have ended, because the client was away.
import { having, shared } from "../fold/share.js";
import type { ThreadView, ViewRun } from "../view.js";
import type { State } from "../wire.js";
import { isActive, isOver } from "../wire.js";

/**
 * The runs of which a view cannot know how they are: those that it shows as active though another run has the thread, the
 * active ones nested in a run that is over, and, unless the host has no times, those of which only an entry has told the
 * end. Only a snapshot tells.
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
export function toldRuns(view: ThreadView, told: readonly ViewRun[]): ThreadView {
  const missing = new Set(untold(view));
  const over = new Map(told.filter((run) => isOver(run.state as State)).map((run) => [run.id, run]));
  const runs = view.runs.map((run) => (missing.has(run) && over.get(run.id)) || run);
  return having(view, { runs: shared(view.runs, runs, (run) => run.id) });
}

/** The dispatched run of a nested one, as far up as the list goes. */
function rootOf(runs: readonly ViewRun[], run: ViewRun): ViewRun {
  const parent = run.parentRunId && runs.find((other) => other.id === run.parentRunId && other.depth < run.depth);
  return parent ? rootOf(runs, parent) : run;
}

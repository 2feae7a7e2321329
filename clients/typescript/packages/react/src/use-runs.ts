"use client";

import type { QueuedRun, Retry, ThreadState, ViewRun } from "@spool/client";
import { useMemo } from "react";
import { type FromThread, useStore } from "./context.js";
import { sameItems } from "./present.js";
import { useSelected } from "./select.js";

/** A run with the runs that its calls have started. */
export interface RunNode {
  readonly run: ViewRun;
  readonly children: readonly RunNode[];
}

/** The runs of a thread. */
export interface Runs {
  /** The runs of the thread, the newest first, each with the runs nested in it. */
  readonly tree: readonly RunNode[];
  /** The runs that wait for the thread, the next one first. */
  readonly queue: readonly QueuedRun[];
  /** The next attempt of a run whose last one failed. */
  readonly retry: Retry | null;
}

/** Returns the runs of the thread as a tree. A token does not render its component. */
export function useRuns(from: FromThread = {}): Runs {
  const [runs, queue, retry] = useSelected(useStore(from), partsOf, sameItems) as ReturnType<typeof partsOf>;
  return useMemo(() => ({ tree: treeOf(runs), queue, retry }), [runs, queue, retry]);
}

/** Returns a run of the thread, or its newest one. `null`: there is none. */
export function useRun(runId?: string, from: FromThread = {}): ViewRun | null {
  return useSelected(useStore(from), ({ view }) => {
    const is = (run: ViewRun) => (runId === undefined ? run.depth === 0 : run.id === runId);
    return view.runs.find(is) ?? null;
  });
}

function partsOf({ view }: ThreadState) {
  return [view.runs, view.queue, view.retry] as const;
}

function treeOf(runs: readonly ViewRun[]): RunNode[] {
  const ids = new Set(runs.map((run) => run.id));
  const children = new Map<string | undefined, ViewRun[]>();
  for (const run of runs) {
    const parent = run.parentRunId !== undefined && ids.has(run.parentRunId) ? run.parentRunId : undefined;
    children.set(parent, [...(children.get(parent) ?? []), run]);
  }
  // The newest first is for the runs of people. Nested runs read in the order in which they began.
  const below = (parent: string): RunNode[] =>
    (children.get(parent) ?? []).toReversed().map((run) => ({ run, children: below(run.id) }));
  return (children.get(undefined) ?? []).map((run) => ({ run, children: below(run.id) }));
}

import { describe, expect, test } from "vitest";
import { type Framed, fixture } from "../fixtures.test-util.js";
import type { ViewRun } from "../view.js";
import type { Frame, Snapshot } from "../wire.js";
import { settledRuns, untold } from "./missed.js";
import { emptyView, reduce } from "./reduce.js";

interface Case {
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly frames: readonly Framed[];
  readonly untold: readonly string[];
  readonly told: { readonly runs: readonly ViewRun[] };
  readonly shown: readonly Pick<ViewRun, "id" | "state" | "endedAt">[];
}

const { missed } = fixture<{ missed: Case[] }>("missed");

describe("the shared missed runs", () => {
  test.each(missed.map((c) => [c.name, c] as const))("%s", (_, c) => {
    let view = reduce(emptyView, c.snapshot);
    for (const f of c.frames) view = reduce(view, f.frame as Frame);
    expect(untold(view).map(({ id }) => id)).toEqual(c.untold);
    const { runs } = settledRuns(view, c.told.runs);
    expect(runs.map(({ id, state, endedAt }) => ({ id, state, ...(endedAt && { endedAt }) }))).toEqual(c.shown);
  });
});

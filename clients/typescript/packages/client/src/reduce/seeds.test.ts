// What the Go view shows of random threads, which this one has to show too: see TestSeeds of client/view. SPOOL_VIEWS
// names the file that it has written. Without it, nothing runs.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { type Framed, framed, shown } from "../fixtures.test-util.js";
import type { Snapshot } from "../wire.js";
import { emptyView, reduce } from "./reduce.js";

interface Line {
  readonly seed: number;
  readonly snapshot: Snapshot;
  readonly frames: readonly Framed[];
  readonly views: readonly { behind: number; digest: string; view?: unknown }[];
}

const file = process.env.SPOOL_VIEWS ?? "";

describe.skipIf(!file)("the views of random threads", () => {
  test("are those of the Go client", { timeout: 3_600_000 }, async () => {
    let [seeds, compared] = [0, 0];
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = JSON.parse(text) as Line;
      let view = reduce(emptyView, line.snapshot);
      let applied = 0;
      for (const { behind, digest, view: expected } of line.views) {
        for (const f of line.frames.slice(applied, behind)) view = reduce(view, framed(f));
        applied = behind;
        const now = shown(view);
        if (expected) expect(now, `behind frame ${behind}`).toEqual(expected);
        expect(digestOf(now), `SPOOL_SEED=${line.seed}, behind frame ${behind}`).toBe(digest);
        compared++;
      }
      seeds++;
    }
    expect(compared).toBeGreaterThan(seeds);
  });
});

/** The digest of a JSON value, with the keys of objects in the order of their bytes. */
function digestOf(value: unknown): string {
  const text = JSON.stringify(value, (_, v) =>
    v && typeof v === "object" && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

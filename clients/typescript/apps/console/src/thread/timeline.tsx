// The runs of a thread beside the time at which they worked.
import type { ViewRun } from "@spool/client";
import type { RunNode } from "@spool/react";
import type { ReactNode } from "react";
import { duration } from "../ui/format.js";

/** A bar of the timeline, in parts of the whole. */
export interface Bar {
  readonly run: ViewRun;
  readonly depth: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the bars of a run and of those nested in it, and the time of all. A run that is not over lasts until now. */
export function barsOf(root: RunNode, now: number): { bars: Bar[]; totalMs: number } {
  const flat: { run: ViewRun; depth: number }[] = [];
  const walk = ({ run, children }: RunNode, depth: number) => {
    flat.push({ run, depth });
    for (const child of children) {
      walk(child, depth + 1);
    }
  };
  walk(root, 0);
  const times = flat.map(({ run }) => {
    const from = new Date(run.startedAt ?? run.enqueuedAt ?? now).getTime();
    const to = run.endedAt === undefined ? now : new Date(run.endedAt).getTime();
    return { from, to: Math.max(from, to) };
  });
  const begin = Math.min(...times.map((t) => t.from));
  const end = Math.max(begin + 1, ...times.map((t) => t.to));
  const bars = flat.map(({ run, depth }, i) => {
    const time = times[i] ?? { from: begin, to: end };
    return { run, depth, from: (time.from - begin) / (end - begin), to: (time.to - begin) / (end - begin) };
  });
  return { bars, totalMs: end - begin };
}

const row = 18;
const width = 260;

/** Draws the bars. The tree beside it says the same in words. */
export function Timeline({ root, now }: { root: RunNode; now: number }): ReactNode {
  const { bars, totalMs } = barsOf(root, now);
  return (
    <figure className="timeline">
      <svg
        viewBox={`0 0 ${width} ${bars.length * row}`}
        role="img"
        aria-label={`Timeline of ${bars.length} runs in ${duration(totalMs)}`}
      >
        {bars.map(({ run, from, to, depth }, i) => (
          <g key={run.id} data-state={run.state}>
            <title>{`${run.agent}, ${run.state.toLowerCase()}`}</title>
            <rect x={0} y={i * row + 2} width={width} height={row - 4} className="track" />
            <rect
              x={from * (width - 2)}
              y={i * row + 2}
              width={Math.max(2, (to - from) * width)}
              height={row - 4}
              rx={2}
              className="span"
            />
            <text x={4 + depth * 8} y={i * row + row - 6}>
              {run.agent}
            </text>
          </g>
        ))}
      </svg>
      <figcaption className="faint num">{duration(totalMs)}</figcaption>
    </figure>
  );
}

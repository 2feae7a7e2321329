// A few numbers over time, drawn small.
import { type ReactNode, useEffect, useState } from "react";

const most = 120;

/** Returns the last values that a number had, the newest last. They last as long as the screen. */
export function useSeries(value: number | undefined, tick: unknown): readonly number[] {
  const [series, setSeries] = useState<readonly number[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer is a value, also one that has not changed
  useEffect(() => {
    if (value !== undefined) {
      setSeries((now) => [...now.slice(1 - most), value]);
    }
  }, [tick]);
  return series;
}

const width = 120;
const height = 28;

/** A number with its course. */
export function Spark({
  label,
  text,
  series,
  level = "fine",
}: {
  label: string;
  text: string;
  series: readonly number[];
  level?: "fine" | "near" | "over";
}): ReactNode {
  const top = Math.max(1, ...series);
  const points = series.map((value, i) => {
    const x = series.length < 2 ? width : (i / (series.length - 1)) * width;
    return `${x.toFixed(1)},${(height - 2 - (value / top) * (height - 4)).toFixed(1)}`;
  });
  return (
    <div className="spark" data-level={level}>
      <span className="faint small">{label}</span>
      <span className="spark-value num">{text}</span>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {points.length > 1 && <polyline points={points.join(" ")} vectorEffect="non-scaling-stroke" />}
      </svg>
    </div>
  );
}

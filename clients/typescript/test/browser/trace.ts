// What the main thread of a page does, from a trace of the browser.
import type { CDPSession } from "playwright-core";

interface TraceEvent {
  name: string;
  cat: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  args?: { name?: string };
}

/** Traces a page while something happens, and returns the work of its main thread in each frame, in milliseconds. */
export async function framesOf(devtools: CDPSession, what: () => Promise<void>): Promise<number[]> {
  const events: TraceEvent[] = [];
  devtools.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise<void>((resolve) => devtools.once("Tracing.tracingComplete", () => resolve()));
  const included = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "__metadata"];
  await devtools.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: included, excludedCategories: ["*"] },
  } as never);
  await what();
  await devtools.send("Tracing.end");
  await complete;
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => ph === "X" && /RunTask$/.test(name) && mains.has(`${pid} ${tid}`),
  );
  return perFrame(tasks.map(({ ts, dur = 0 }) => ({ from: ts / 1000, to: (ts + dur) / 1000 })));
}

/** A frame at 60 a second, in milliseconds. */
const frame = 1000 / 60;

function perFrame(tasks: { from: number; to: number }[]): number[] {
  const first = Math.min(...tasks.map(({ from }) => from));
  const last = Math.max(...tasks.map(({ to }) => to));
  const frames = new Array<number>(Math.ceil((last - first) / frame)).fill(0);
  for (const { from, to } of tasks) {
    for (let at = from - first; at < to - first; ) {
      const i = Math.floor(at / frame);
      const end = Math.min(to - first, (i + 1) * frame);
      frames[i] = (frames[i] ?? 0) + end - at;
      at = end + 1e-9;
    }
  }
  return frames;
}

/** The value that a share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

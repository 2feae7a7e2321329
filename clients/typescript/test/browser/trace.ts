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
  /** The time of the processor, which does not count what other processes take. */
  tdur?: number;
  args?: { name?: string; data?: { frames?: { processId: number }[] } };
}

/** A task of the main thread, in milliseconds. */
export interface Task {
  readonly from: number;
  readonly to: number;
  /** The time of the processor. */
  readonly work: number;
}

/** Traces a page while something happens, and returns the work of its main thread in each frame, in milliseconds. */
export async function framesOf(devtools: CDPSession, what: () => Promise<void>): Promise<number[]> {
  return perFrame(await tasksOf(devtools, what));
}

/** Traces a page while something happens, and returns the tasks of its main thread. */
export async function tasksOf(devtools: CDPSession, what: () => Promise<void>): Promise<Task[]> {
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
  // The trace has the pages of other cases too.
  const frames = events.find(({ name }) => name === "TracingStartedInBrowser")?.args?.data?.frames ?? [];
  const own = new Set(frames.map(({ processId }) => processId));
  const mains = new Set(
    events
      .filter(({ name, pid, args }) => name === "thread_name" && args?.name === "CrRendererMain" && own.has(pid))
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => ph === "X" && name === "RunTask" && mains.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) {
    throw new Error("the trace has no task of the page");
  }
  return tasks.map(({ ts, dur = 0, tdur = dur }) => ({ from: ts / 1000, to: (ts + dur) / 1000, work: tdur / 1000 }));
}

/** The processor's time for the longest task, in milliseconds. */
export function longest(tasks: readonly Task[]): number {
  return tasks.reduce((most, { work }) => Math.max(most, work), 0);
}

/** A frame at 60 a second, in milliseconds. */
const frame = 1000 / 60;

/** The work of tasks in each frame. That of a task that lasts longer is spread over its frames. */
function perFrame(tasks: readonly Task[]): number[] {
  const first = tasks.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY);
  const last = tasks.reduce((most, { to }) => Math.max(most, to), 0);
  const frames = new Array<number>(Math.max(0, Math.ceil((last - first) / frame))).fill(0);
  for (const { from, to, work } of tasks) {
    const begin = Math.floor((from - first) / frame);
    const end = Math.max(begin, Math.ceil((to - first) / frame) - 1);
    for (let i = begin; i <= end; i++) {
      frames[i] = (frames[i] ?? 0) + work / (end - begin + 1);
    }
  }
  return frames;
}

/** The value that a share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

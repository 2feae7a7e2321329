// What a run waits for, in the few words of its mark.
import type { Run, State, ThreadView } from "@spool/client";
import { moment } from "../ui/format.js";

/** What a run waits for. */
export interface Wait {
  /** A person can end it. */
  readonly asks: boolean;
  readonly text: string;
}

/** The parts of a view that say what its runs wait for. */
export type Waits = Pick<ThreadView, "thread" | "parks" | "pending" | "retry">;

/** A run of the view, as far as it matters. */
export interface WaitingRun {
  readonly id: string;
  readonly depth: number;
  readonly state: State | string;
}

/** What a list says of a thread, or of a run of it. */
export interface Listed {
  readonly threadId: string;
  /** When the thread changed last. */
  readonly updatedAt?: string;
  readonly run?: Pick<Run, "id" | "steps" | "attempts">;
}

/** Whether a view is older than what the list says: it cannot tell of a wait that the list has already. */
export function isOlder({ thread, runs }: Pick<ThreadView, "thread" | "runs">, { updatedAt, run }: Listed): boolean {
  const known = runs.find(({ id }) => id === run?.id);
  return (
    (updatedAt !== undefined && Date.parse(thread.updatedAt ?? "") < Date.parse(updatedAt)) ||
    (run !== undefined && known !== undefined && (known.steps < run.steps || known.attempts < run.attempts))
  );
}

/** Returns what a run of a view waits for, or null if it does not wait. Without a run, it is the one that has the thread. */
export function waitOf(view: Waits, run?: WaitingRun): Wait | null {
  const { state } = run ?? view.thread;
  const nested = run !== undefined && run.depth > 0;
  const own = (of: { agentId?: string | null }) => !nested || of.agentId === run.id;
  const waits = state === "WAITING_FOR_INPUT" || (nested && view.thread.state === "WAITING_FOR_INPUT");
  if ((waits || nested) && view.parks.some(own)) {
    return { asks: true, text: "needs you" };
  }
  const [first, ...others] = waits ? view.pending.filter(own) : [];
  if (first !== undefined) {
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    return { asks: false, text: `waits for ${first.toolName}'s work${more}` };
  }
  if (state === "QUEUED" && view.retry !== null && (run === undefined || view.retry.runId === run.id)) {
    return { asks: false, text: `waits for the retry at ${moment(view.retry.at)}` };
  }
  if (state === "WAITING_FOR_INPUT" && !nested && view.thread.state === state) {
    return { asks: false, text: "waits for a worker" }; // all its questions are answered
  }
  return null;
}

/** Whether two waits read the same. */
export function sameWait(a: Wait | null, b: Wait | null): boolean {
  return a?.asks === b?.asks && a?.text === b?.text;
}

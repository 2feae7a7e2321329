// The line that says what the thread is doing.
import { isActive, type ThreadState } from "@spool/client";

/** What a thread is doing. */
export type Phase =
  | "idle"
  | "loading"
  | "queued"
  | "thinking"
  | "responding"
  | "tool-call"
  | "tool-result"
  | "waiting-input"
  | "waiting-work"
  | "completed"
  | "stopped"
  | "failed";

/** The text of each phase. A function gets the detail: the name of a tool, or why a run failed. */
export type Labels = Readonly<Record<Phase, string | ((detail?: string) => string)>>;

/** What a thread is doing, in words. */
export interface Activity {
  readonly phase: Phase;
  readonly label: string;
  readonly detail?: string;
}

const about = (text: string) => (detail?: string) => (detail === undefined ? text : `${text}: ${detail}`);

/** The labels that hold unless the provider has others. */
export const defaultLabels: Labels = {
  idle: "Ready",
  loading: "Loading",
  queued: "Queued",
  thinking: "Thinking",
  responding: "Responding",
  "tool-call": about("Calling a tool"),
  "tool-result": about("Reading the result"),
  "waiting-input": about("Waiting for an answer"),
  "waiting-work": about("Waiting for work elsewhere"),
  completed: "Done",
  stopped: "Stopped",
  failed: about("Failed"),
};

/** Returns what a thread is doing. */
export function activityOf(state: ThreadState, labels: Labels = defaultLabels): Activity {
  const [phase, detail] = phaseOf(state);
  const label = labels[phase];
  return {
    phase,
    label: typeof label === "string" ? label : label(detail),
    ...(detail !== undefined && { detail }),
  };
}

/** Reports whether two activities read the same. */
export function sameActivity(a: Activity, b: Activity): boolean {
  return a.phase === b.phase && a.label === b.label && a.detail === b.detail;
}

function phaseOf({ loading, threadId, turns, view }: ThreadState): [Phase, (string | undefined)?] {
  if (loading && threadId !== null) {
    return ["loading"];
  }
  const state = view.thread.state;
  if (state === "WAITING_FOR_INPUT") {
    const [asked] = view.parks;
    const [pending] = view.pending;
    // Nobody has to answer for work that goes on elsewhere.
    return asked === undefined && pending !== undefined
      ? ["waiting-work", pending.toolName]
      : ["waiting-input", asked?.toolName];
  }
  if (state === "RUNNING") {
    return working(view);
  }
  if (state === "QUEUED" || (turns.length > 0 && !isActive(state))) {
    return ["queued"];
  }
  switch (state) {
    case "COMPLETED":
      return ["completed"];
    case "CANCELLED":
      return ["stopped"];
    case "FAILED":
      return ["failed", view.runs.find((run) => run.depth === 0)?.error];
    default:
      return ["idle"];
  }
}

function working({ drafts, messages }: ThreadState["view"]): [Phase, (string | undefined)?] {
  const last = drafts.at(-1) ?? messages.at(-1);
  if (last === undefined || last.role === "user") {
    return ["thinking"];
  }
  const part = Array.isArray(last.content) ? last.content.at(-1) : undefined;
  switch (part?.type) {
    case "tool-call":
      return ["tool-call", part.toolName];
    case "tool-result":
      return ["tool-result", part.toolName];
    case "reasoning":
      return ["thinking"];
    default:
      return [drafts.length > 0 ? "responding" : "thinking"];
  }
}

// The line that says what the thread is doing.
import { isActive, type Part, type ThreadState } from "@spool/client";

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
  const asked = view.parks[0];
  if (state === "WAITING_FOR_INPUT") {
    return ["waiting-input", asked?.toolName];
  }
  if (state === "RUNNING") {
    return working(view.drafts.at(-1) ?? view.messages.at(-1));
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

function working(last: ThreadState["view"]["messages"][number] | undefined): [Phase, (string | undefined)?] {
  const content = last?.content;
  if (last === undefined || last.role === "user" || !Array.isArray(content)) {
    return ["thinking"];
  }
  const part = content.at(-1) as Part | undefined;
  switch (part?.type) {
    case "text":
      return last.createdAt === undefined ? ["responding"] : ["thinking"];
    case "tool-call":
      return ["tool-call", part.toolName];
    case "tool-result":
      return ["tool-result", part.toolName];
    default:
      return ["thinking"];
  }
}

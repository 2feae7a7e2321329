// Why a run waits, or why it ended as it did, in a sentence or two.
import type { Park, ThreadView, ViewRun } from "@spool/client";
import { count, duration, moment, money } from "../ui/format.js";
import { isObject } from "./schema.js";

/** What a question is about, in a few words. */
export function askOf(park: Pick<Park, "reason" | "toolName">): string {
  switch (park.reason) {
    case "approval":
      return `approve ${park.toolName}`;
    case "outcome_unknown":
      return `say what ${park.toolName} did before its worker died`;
    case "budget_reached":
      return "raise the budget";
    case "client_tool":
      return `run ${park.toolName} and send its result`;
    case "elicitation":
      return `answer a question of ${park.toolName}`;
    default:
      return `answer ${park.toolName} (${park.reason})`;
  }
}

/** The budget that is used up, in words. */
export function budgetOf(args: unknown): string {
  const { exhausted, budget, currency } = isObject(args) ? args : {};
  const total = isObject(budget) ? budget : {};
  switch (exhausted) {
    case "token_budget":
      return `${count(Number(total.tokenBudget ?? 0))} tokens`;
    case "cost_budget":
      return money(Number(total.costBudgetMicros ?? 0), typeof currency === "string" ? currency : undefined);
    case "tool_call_budget":
      return `${count(Number(total.toolCallBudget ?? 0))} tool calls`;
    case "time_budget":
      return duration(Number(total.wallTimeMs ?? 0));
    default:
      return String(exhausted ?? "budget");
  }
}

/** Says which file the model of a FILE_DROPPED does not get. */
export function droppedOf({ artifactId, model }: { artifactId?: unknown; model?: unknown }): string {
  return artifactId
    ? `the model ${model} does not get the file ${artifactId}`
    : `the model ${model} does not get images and files of tool results`;
}

/** Says that a run came to a model without a price, by the entry about its budget, or undefined. */
export function unpricedOf({ unpricedModel }: { unpricedModel?: unknown }): string | undefined {
  return unpricedModel ? `the run came to ${unpricedModel}, which has no price` : undefined;
}

function left(at: string, now: number): string {
  return duration(Math.max(0, new Date(at).getTime() - now));
}

/** Says that nobody answered questions of a run in time. */
export function unanswered({ questions, since }: NonNullable<ViewRun["expired"]>, now: number): string {
  const until = `until ${moment(since, now)}`;
  return questions === 1 ? `Nobody answered ${until}` : `Nobody answered ${questions} questions, the first ${until}`;
}

/** Returns what there is to say, or null if there is nothing: the run works, or is done. */
export function whyOf(view: ThreadView, now: number): string | null {
  const why = stateOf(view, now);
  const expired = view.runs.find((one) => one.depth === 0 && one.stopReason !== "steered")?.expired;
  if (expired === undefined) {
    return why;
  }
  const said = `${unanswered(expired, now)}.`;
  return why === null ? said : `${why.replace(/[^.!?]$/, "$&.")} ${said}`;
}

function stateOf(view: ThreadView, now: number): string | null {
  // A message that steered another run has a run of its own, which is over at once.
  const run = view.runs.find((one) => one.depth === 0 && one.stopReason !== "steered");
  const state = view.thread.state;
  const [first] = view.parks;
  if (state === "WAITING_FOR_INPUT" && first !== undefined) {
    const more = view.parks.length > 1 ? ` and ${view.parks.length - 1} more` : "";
    const who = first.distinctApprover ? `someone other than ${run?.startedBy ?? "who started it"}` : "someone";
    const until = first.expiresAt ? `; expires in ${left(first.expiresAt, now)}` : "";
    const nested = first.nested ? ` (asked by ${first.nested.name})` : "";
    return first.reason === "budget_reached"
      ? `Needs more than its budget of ${budgetOf(first.arguments)}, and waits for a new one${until}.`
      : `Waits for ${who} to ${askOf(first)}${nested}${more}${until}.`;
  }
  const [pending] = view.pending;
  if (pending !== undefined && (state === "WAITING_FOR_INPUT" || state === "QUEUED" || state === "RUNNING")) {
    const note = pending.note ? ` (${pending.note})` : "";
    return `Waits for the work of ${pending.toolName} elsewhere${note}; gives up in ${left(pending.until, now)}.`;
  }
  if (view.retry !== null && state === "QUEUED") {
    const because = view.retry.error ? `: ${view.retry.error}` : "";
    return `The last attempt failed${because}. The next one begins in ${left(view.retry.at, now)}.`;
  }
  const [limit] = view.providerWaits;
  if (limit !== undefined && state === "RUNNING") {
    return limit.limit === "refused"
      ? "Waits because the model's provider refuses more requests for now."
      : `Waits for a limit of the model's provider: ${limit.limit}.`;
  }
  if (state === "WAITING_FOR_INPUT") {
    return "Waits for a worker."; // all its questions are answered
  }
  if (state === "QUEUED") {
    return run?.enqueuedAt
      ? `Waits for a worker since ${left(new Date(2 * now - new Date(run.enqueuedAt).getTime()).toISOString(), now)}.`
      : "Waits for a worker.";
  }
  if (state === "FAILED") {
    return `Failed: ${run?.error ?? run?.stopReason ?? "no reason is known"}`;
  }
  if (state === "COMPLETED" && run?.stopReason && run.stopReason !== "completed") {
    return `Ended early: ${endWords[run.stopReason] ?? run.stopReason}.`;
  }
  return null;
}

/** How an answer came that the subject did not give with credentials of its own. */
export function linkOf({ via, viaBy }: { via?: unknown; viaBy?: unknown }): string {
  return via === "link" ? ` by a link${viaBy ? ` of ${viaBy}` : ""}` : "";
}

const endWords: Record<string, string> = {
  length: "the answer reached the model's limit of tokens",
  empty_answer: "the model gave an empty answer",
  content_filter: "the provider's filter cut the answer",
  unknown_finish: "the provider ended the answer with a word that is not known, so it may be cut",
  max_steps: "it took as many steps as it may",
  repeated_call: "the model made the same call with the same result again and again",
  token_budget: "its budget of tokens is used up",
  cost_budget: "its budget of money is used up, or it came to a model without a price",
  tool_call_budget: "its budget of tool calls is used up",
  time_budget: "its budget of time is used up",
  time_limit: "it ran for as long as the server lets a run",
  storage_limit: "the tenant stores as much as it may",
  invalid_output: "the answer does not fit the schema",
};

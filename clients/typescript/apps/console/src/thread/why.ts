// Why a run waits, or why it ended as it did, in a sentence or two.
import type { ThreadView } from "@spool/client";
import { duration } from "../ui/format.js";
import { earlyEnd } from "../words/end.js";
import { askOf, budgetOf, unanswered } from "../words/question.js";

function left(at: string, now: number): string {
  return duration(Math.max(0, new Date(at).getTime() - now));
}

/** Returns what there is to say, or null if there is nothing: the run works, or is done. */
export function whyOf(view: ThreadView, now: number): string | null {
  const why = stateOf(view, now);
  const expired = view.runs.find((one) => one.depth === 0 && one.stopReason !== "steered")?.expired;
  if (expired === undefined) {
    return why;
  }
  const ending = `${unanswered(expired, now)}.`;
  return why === null ? ending : `${why.replace(/[^.!?]$/, "$&.")} ${ending}`;
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
  const early = state === "COMPLETED" ? earlyEnd(run?.stopReason) : null;
  return early === null ? null : `Ended early: ${early}.`;
}

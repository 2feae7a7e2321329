// What a question is about, for all pages that show one.
import type { Park, ViewRun } from "@spool/client";
import { isObject } from "../thread/schema.js";
import { count, duration, moment, money } from "../ui/format.js";

/** What somebody is asked to do, in a few words. */
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

/** The budget that is used up, from the arguments of the question for a new one. */
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

/** Says that nobody answered questions of a run in time. */
export function unanswered({ questions, since }: NonNullable<ViewRun["expired"]>, now: number): string {
  const until = `until ${moment(since, now)}`;
  return questions === 1 ? `Nobody answered ${until}` : `Nobody answered ${questions} questions, the first ${until}`;
}

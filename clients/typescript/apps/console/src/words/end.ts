/** Why a run ended early, by its stop reason. The terminal says the same. */
export const earlyEnds: Record<string, string> = {
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

/** Says why a run ended early, or returns null if it did not. */
export function earlyEnd(stopReason: string | undefined): string | null {
  return stopReason === undefined || stopReason === "completed" ? null : (earlyEnds[stopReason] ?? stopReason);
}

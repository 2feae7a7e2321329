// How much a run needs to go on.

/** What the server keeps for an answer of a model whose agent has no limit for it. */
const answer = 8192;

/**
 * Returns a total that lets a run go on whose total is used up. A run of twice its total may ask again at once: a budget
 * of 10 tokens is no prompt. The next prompt has what the run has read and written, at most; it may be the first one, so
 * that nothing says how long it is.
 */
export function enough(name: string, total: number, spent: number): number {
  switch (name) {
    case "tokenBudget":
      return Math.max(2 * total, rounded(spent + Math.max(spent, total) + answer));
    case "costBudgetMicros":
      return Math.max(2 * total, rounded(3 * spent), 10_000);
    case "wallTimeMs":
      return Math.max(2 * total, spent + 60_000);
    default:
      return Math.max(2 * total, spent + 10);
  }
}

/** The next number above with two digits and zeros. */
function rounded(n: number): number {
  const unit = 10 ** Math.max(0, Math.ceil(Math.log10(n || 1)) - 2);
  return Math.ceil(n / unit) * unit;
}

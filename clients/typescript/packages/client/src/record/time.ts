// Times with more digits than a Date has.

/** The longest time that a server can count, in milliseconds. */
const longest = 9_223_372_036_854;

/** The time between two moments in whole milliseconds, as a server counts them. */
export function betweenMs(from: string, to: string): number {
  const ms = Date.parse(to) - Date.parse(from);
  const difference = ms + (fraction(to) - fraction(from)) / 1e6;
  return Number.isNaN(difference) ? 0 : Math.max(-longest, Math.min(longest, Math.trunc(difference))) + 0;
}

/** Whether a moment is before another one. */
export function isBefore(a: string, b: string): boolean {
  const ms = Date.parse(a) - Date.parse(b);
  return ms < 0 || (ms === 0 && fraction(a) < fraction(b));
}

/** The nanoseconds of a time that its milliseconds do not have. */
function fraction(time: string): number {
  const digits = /\.\d{3}(\d+)/.exec(time)?.[1] ?? "";
  return Number(digits.slice(0, 6).padEnd(6, "0"));
}

// A thread with all states that it had. A page that does not look back does not load it.
export { readRecord } from "./read.js";
export type * from "./types.js";

export { createClient } from "./client.js";
export { type ErrorCode, SpoolError } from "./error.js";
export type * from "./options.js";
export { emptyView, reduce } from "./reduce/reduce.js";
export { createThreadStore } from "./store/store.js";
export type * from "./types.js";
export type * from "./view.js";
export type * from "./wire.js";
export { isActive } from "./wire.js";

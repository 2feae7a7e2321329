// The examples that all clients share.
import { readFileSync } from "node:fs";

/** Returns spec/fixtures/<name>.json. */
export function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../../spec/fixtures/${name}.json`, import.meta.url), "utf8"));
}

/** A frame with the id of its event, null for a notice. */
export interface Framed {
  readonly id: string | null;
  readonly frame: unknown;
}

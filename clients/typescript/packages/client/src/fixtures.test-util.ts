// The examples that all clients share.
import { readFileSync } from "node:fs";
import type { ThreadView } from "./view.js";
import type { Frame } from "./wire.js";

/** Returns spec/fixtures/<name>.json. */
export function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../../spec/fixtures/${name}.json`, import.meta.url), "utf8"));
}

/** A frame with the id of its event, null for a notice. */
export interface Framed {
  readonly id: string | null;
  readonly frame: unknown;
}

/** The part of the view that all clients share. Durations follow from the times, so the fixtures leave them out. */
export function shown(view: ThreadView): unknown {
  const { reading: _, ...rest } = view;
  const runs = view.runs.map(({ durationMs: _, queuedMs: __, ...run }) => run);
  return JSON.parse(JSON.stringify({ ...rest, runs }));
}

/** The frame as a follower yields it. */
export const framed = (f: Framed): Frame => ({ ...(f.frame as Frame), ...(f.id !== null && { cursor: f.id }) });

// What entries of the record and notices say.
import type { PendingCall, Retry } from "../view.js";
import type { Run, State } from "../wire.js";
import { merged } from "./share.js";

/** An entry or a notice as it comes. */
export interface AnyEvent {
  readonly type: string;
  readonly seq?: number;
  readonly threadId?: string;
  readonly runId?: string | null;
  readonly createdAt?: string;
  // biome-ignore lint/suspicious/noExplicitAny: its fields follow from the type, and a reader checks what it uses
  readonly payload?: any;
}

/** The end of a segment. */
export interface Ended {
  readonly runId: string;
  readonly status: string;
  /**
   * What follows for the run from the status. `FAILED` is an attempt that names no other one, which may still follow at
   * once: what comes next tells. `""`: the run goes on.
   */
  readonly state: State;
  readonly stopReason?: Run["stopReason"];
  readonly error?: string;
  readonly expired?: Run["expired"];
  /** The next attempt. `null`: the entry names none. */
  readonly retry: Retry | null;
}

const states: { readonly [status: string]: State } = {
  finished: "COMPLETED",
  stopped: "CANCELLED",
  parked: "WAITING_FOR_INPUT",
  error: "FAILED",
};

/** The end of a segment that a RUN_ENDED says. */
export function endedOf(e: AnyEvent): Ended {
  const { retryAfterMs, ...p } = e.payload;
  const ended: Ended = { ...p, runId: p.runId ?? "", state: "", retry: null };
  if (!(retryAfterMs > 0)) return { ...ended, state: states[p.status] ?? "" };
  const began = e.createdAt ?? "";
  const [, micros = ""] = /\.\d{3}(\d+)/.exec(began) ?? []; // a Date has milliseconds only
  const time = new Date(Date.parse(began) + retryAfterMs).toISOString();
  const at = time.replace("Z", `${micros}Z`).replace(/\.?0+Z$/, "Z"); // as the server writes times
  return { ...ended, retry: merged<Retry>({ runId: e.runId ?? ended.runId, at }, { error: p.error }) };
}

/** The call of a CALL_PENDING. */
export const pendingOf = (e: AnyEvent): PendingCall => ({ ...e.payload, runId: e.runId ?? "" });

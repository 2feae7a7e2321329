// What a run waits for: answers, work that goes on elsewhere, the next attempt, the model's provider.
import type { Park, PendingCall, ThreadView } from "../view.js";
import { merged, put, without } from "./share.js";

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

/** The view after an entry about a question. */
export function withPark(view: ThreadView, e: AnyEvent): ThreadView {
  const p = e.payload;
  switch (e.type) {
    case "INPUT_REQUIRED": {
      // Some hosts send what only their workers need. An event says approval for questions that have a reason of their own.
      const { resume, about, ...asks } = { ...p, ...(p.about && { reason: p.about }) };
      const runId = e.runId ?? resume?.runId ?? "";
      const park = merged({ ...asks, agentId: p.agentId ?? null, runId } as Park, { askedAt: e.createdAt });
      const parks = put(view.parks, park, (o) => o.toolCallId === park.toolCallId && o.runId === park.runId);
      return { ...view, parks };
    }
    case "INPUT_EXTENDED":
      return {
        ...view,
        parks: view.parks.map((o) => (o.toolCallId === p.toolCallId ? { ...o, expiresAt: p.expiresAt } : o)),
      };
    case "INPUT_EXPIRED":
    case "HITL_RESPONSE": {
      const parks = without(view.parks, (o) => o.toolCallId === p.toolCallId);
      return parks === view.parks ? view : { ...view, parks };
    }
    default:
      return view;
  }
}

/** The view after an entry that says what a run waits for, other than an answer. */
export function withWait(view: ThreadView, e: AnyEvent): ThreadView {
  const p = e.payload;
  switch (e.type) {
    case "CALL_PENDING": {
      const call: PendingCall = { ...p, runId: e.runId ?? "" };
      const pending = put(view.pending, call, (o) => o.toolCallId === call.toolCallId && o.runId === call.runId);
      return { ...view, pending };
    }
    case "RUN_STARTED":
      return noRetry(view);
    case "RUN_ENDED": {
      const ended = noRetry(view);
      if (!(p.retryAfterMs > 0)) return ended;
      const time = new Date(Date.parse(e.createdAt ?? "") + p.retryAfterMs).toISOString();
      const at = time.replace(/\.?0+Z$/, "Z"); // as the server writes times
      return { ...ended, retry: merged({ runId: e.runId ?? p.runId ?? "", at }, { error: p.error } as object) };
    }
    default:
      return view;
  }
}

function noRetry(view: ThreadView): ThreadView {
  if (!view.retry && view.providerWaits.length === 0) return view;
  return { ...view, retry: null, providerWaits: [] };
}

/** The view without the waits of all runs but one. `""`: of all. */
export function noWaits(view: ThreadView, except: string): ThreadView {
  const pending = without(view.pending, (p) => except === "" || p.runId !== except);
  const retry = view.retry && (except === "" || view.retry.runId !== except) ? null : view.retry;
  return pending === view.pending && retry === view.retry ? view : { ...view, pending, retry };
}

/** The view after an item of an agent, which ends its wait for the provider, and that of a call for its result. */
export function came(view: ThreadView, agentId: string, result?: unknown): ThreadView {
  const providerWaits = without(view.providerWaits, (w) => (w.agentId ?? "") === agentId);
  const pending = result === undefined ? view.pending : without(view.pending, (p) => p.toolCallId === result);
  return providerWaits === view.providerWaits && pending === view.pending ? view : { ...view, providerWaits, pending };
}

// Questions that wait for an answer.
import type { Park } from "../view.js";
import type { AnyEvent } from "./entry.js";
import { merged, put, without } from "./share.js";

/** The questions that are open after an entry, in the order in which they were asked. */
export function parksAfter(parks: readonly Park[], e: AnyEvent): readonly Park[] {
  const p = e.payload;
  switch (e.type) {
    case "INPUT_REQUIRED": {
      // Some hosts send what only their workers need. An event says approval for questions that have a reason of their own.
      const { resume, about, ...asks } = { ...p, ...(p.about && { reason: p.about }) };
      const runId = e.runId ?? resume?.runId ?? "";
      const park = merged({ ...asks, agentId: p.agentId ?? null, runId } as Park, { askedAt: e.createdAt });
      return put(parks, park, (o) => o.toolCallId === park.toolCallId && o.runId === runId);
    }
    case "INPUT_EXTENDED":
      return parks.map((o) => (o.toolCallId === p.toolCallId ? { ...o, expiresAt: p.expiresAt } : o));
    case "INPUT_EXPIRED":
    case "HITL_RESPONSE":
      return without(parks, (o) => o.toolCallId === p.toolCallId);
    default:
      return parks;
  }
}

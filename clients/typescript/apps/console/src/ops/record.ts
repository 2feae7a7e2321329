// What the record of a run says, for a person.
import type { ThreadEvent } from "@spool/client";
import { droppedOf, linkOf, unpricedOf } from "../thread/why.js";

/** A line of the record. */
export interface RecordLine {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly text: string;
  /** What an operator looks for: a worker that was lost, the one that took over, a failure. */
  readonly mark?: "lost" | "takeover" | "failed" | "asked" | "answered";
  readonly payload: unknown;
}

/** Returns the lines of the entries of a run, in order. */
export function linesOf(entries: readonly ThreadEvent[]): RecordLine[] {
  let lost = false;
  return entries.map((entry) => {
    const payload = (entry.payload ?? {}) as Record<string, unknown>;
    const [text, mark] = said(entry.type, payload, lost);
    if (entry.type === "RUN_ENDED") {
      lost = payload.status === "lost";
    } else if (entry.type === "RUN_STARTED") {
      // The stream of a worker that dies has no end of its own: the next start tells.
      lost = true;
    }
    return {
      seq: entry.seq,
      at: entry.createdAt,
      type: entry.type,
      text,
      ...(mark !== undefined && { mark }),
      payload: entry.payload,
    };
  });
}

function said(type: string, p: Record<string, unknown>, lost: boolean): [string, RecordLine["mark"]?] {
  switch (type) {
    case "RUN_STARTED":
      return lost
        ? [
            `segment ${p.segment} began: another worker took the run over, and does the unfinished step again`,
            "takeover",
          ]
        : [`segment ${p.segment} began`];
    case "RUN_ENDED": {
      const retry = typeof p.retryAfterMs === "number" ? `; next attempt after ${p.retryAfterMs} ms` : "";
      const why = p.error ? `: ${p.error}` : p.stopReason ? ` (${p.stopReason})` : "";
      const mark = p.status === "lost" ? "lost" : p.status === "error" ? "failed" : undefined;
      return [`segment ${p.segment} ended: ${p.status}${why}${retry}`, mark];
    }
    case "INPUT_REQUIRED":
      return [`${p.toolName} asks: ${p.about ?? p.reason}`, "asked"];
    case "HITL_RESPONSE":
      return [
        `${p.approved ? "approved" : "denied"}${p.answeredBy ? ` by ${p.answeredBy}` : ""}${linkOf(p)}${p.reason ? `: ${p.reason}` : ""}`,
        "answered",
      ];
    case "MODEL_FALLBACK":
      return [`${p.from} failed (${p.cause}): goes on with ${p.to}`, "failed"];
    case "FILE_DROPPED":
      return [droppedOf(p)];
    case "HANDED_OVER":
      return [`${p.from} hands over to ${p.to}`];
    case "CALL_PENDING":
      return [`${p.toolName} goes on elsewhere${p.note ? `: ${p.note}` : ""}`];
    case "STEERED":
      return [`a message was put in after step ${p.steps}`];
    case "COST_BUDGET_EXHAUSTED":
      return [unpricedOf(p) ?? "the budget of money is used up"];
    case "CONTEXT_COMPACTED":
      return [`${p.summarizedMessages} messages were summarised for the model`];
    default:
      return [type.toLowerCase().replaceAll("_", " ")];
  }
}

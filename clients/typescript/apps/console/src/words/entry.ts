// What each kind of record entry says, for a person: in the record of a run, and at the moments of a thread.
import type { ApplicationEvent, InputRequired, Message, ThreadEvent } from "@spool/client";
import { count, duration, quoted } from "../ui/format.js";
import { earlyEnd } from "./end.js";
import { askOf, budgetOf } from "./question.js";

/** What somebody who looks back searches for, in words. The heaviest one is the first. */
export const markWords = {
  lost: "crash",
  takeover: "takeover",
  redone: "redone step",
  failed: "failure",
  budget: "budget",
  edit: "edit",
  compacted: "summary",
  handover: "handover",
  asked: "question",
  answered: "answer",
  steered: "steered",
  start: "run began",
  end: "run ended",
} as const;

export type MarkKind = keyof typeof markWords;

/** The kinds of marks, the heaviest one first. */
export const markKinds = Object.keys(markWords) as MarkKind[];

/** What an entry says. */
export interface Phrase {
  readonly text: string;
  readonly marks: readonly MarkKind[];
  /** Whether other sentences about the same commit make this one superfluous. */
  readonly minor?: boolean;
}

type Notice = "STATE_CHANGE" | "MESSAGE_APPENDED" | "THREAD_DELETED";
type Kind = Exclude<ThreadEvent["type"], Notice>;
type EntryOf<K extends Kind> = Extract<ThreadEvent, { type: K }>;

type Sentence = (entry: ThreadEvent, before: Before) => Phrase;

/** What the entries before have said, as far as later ones need it. */
interface Before {
  readonly messages: ReadonlyMap<string, Message>;
  /** The questions, by their calls. */
  readonly questions: Map<string, InputRequired>;
  /** Of each run, its last entry about a segment or a handover. */
  readonly segments: Map<string, EntryOf<"RUN_STARTED" | "RUN_ENDED" | "HANDED_OVER">>;
}

/**
 * Returns a function that says the entries of a record. It has to get all of them in their order, because some stand
 * for something else behind others. It quotes messages that it knows.
 */
export function speaker(messages: ReadonlyMap<string, Message> = new Map()): (entry: ThreadEvent) => Phrase {
  const before: Before = { messages, questions: new Map(), segments: new Map() };
  return (of) => {
    const entry = { ...of, payload: of.payload ?? {} } as ThreadEvent; // a file may have any JSON
    // An application may name an event after a property of all objects.
    const say = Object.hasOwn(words, entry.type) ? (words[entry.type as Kind] as Sentence) : unknown;
    const said = say(entry, before);
    if (entry.type === "INPUT_REQUIRED") {
      before.questions.set(entry.payload.toolCallId, entry.payload);
    } else if (entry.type === "RUN_STARTED" || entry.type === "RUN_ENDED" || entry.type === "HANDED_OVER") {
      before.segments.set(entry.runId ?? "", entry);
    }
    return said;
  };
}

/** Says an event of an application, or a kind of a newer server. */
function unknown(entry: ThreadEvent | ApplicationEvent): Phrase {
  const text =
    "published" in entry ? `the application published ${entry.type}` : entry.type.toLowerCase().replaceAll("_", " ");
  return { text, marks: [] };
}

const phrase = (text: string, ...marks: MarkKind[]): Phrase => ({ text, marks });
const minor = (text: string, ...marks: MarkKind[]): Phrase => ({ text, marks, minor: true });
const because = (why: string | undefined) => (why ? `: ${why}` : "");

/** The sentence of each kind. */
const words: { [K in Kind]: (entry: EntryOf<K>, before: Before) => Phrase } = {
  RUN_STARTED: ({ runId = "", payload: p }, { segments }) => {
    const last = segments.get(runId);
    // A worker that dies writes no end of its segment. Another one does, or finds none.
    if (last?.type === "RUN_STARTED" || (last?.type === "RUN_ENDED" && isGone(last.payload))) {
      return phrase(`another worker took the run over, with segment ${p.segment}`, "takeover");
    }
    return p.segment === 1
      ? phrase("a worker began the run", "start")
      : phrase(`a worker went on with the run, with segment ${p.segment}`);
  },
  RUN_ENDED: ({ runId = "", payload: p }, { segments }) => {
    const last = segments.get(runId);
    const early = earlyEnd(p.stopReason);
    switch (p.status) {
      case "lost":
        return isGone(p)
          ? phrase(`the worker of segment ${p.segment} was lost`, "lost")
          : phrase(`the worker of segment ${p.segment} gave the run back${because(p.error)}`, "lost");
      case "error": {
        const next = p.retryAfterMs ? `, and the run is tried again after ${duration(p.retryAfterMs)}` : "";
        return phrase(`segment ${p.segment} failed${because(p.error)}${next}`, "failed");
      }
      case "parked":
        return minor("the run waits without a worker");
      case "stopped":
        return phrase("the run was stopped", "end");
      default:
        return last?.type === "HANDED_OVER"
          ? minor(`the run goes on with ${last.payload.to}`)
          : phrase(early === null ? "the run ended" : `the run ended early: ${early}`, "end");
    }
  },
  INPUT_REQUIRED: ({ payload: p }) => {
    const reason = p.about ?? p.reason;
    return reason === "budget_reached"
      ? phrase(`the budget of ${budgetOf(p.arguments)} is used up, and the run asks for a new one`, "budget", "asked")
      : phrase(`the run waits for someone to ${askOf({ reason, toolName: p.toolName })}`, "asked");
  },
  HITL_RESPONSE: ({ payload: p }, { questions }) => {
    const asked = questions.get(p.toolCallId);
    const budget = asked?.about === "budget_reached";
    const how = p.approved ? "approved" : "denied";
    const what = budget ? "a new budget" : (asked?.toolName ?? "the call");
    const changed = p.arguments === undefined ? "" : " with other arguments";
    const link = p.via === "link" ? ` by a link${p.viaBy ? ` of ${p.viaBy}` : ""}` : "";
    const why = p.reason ? `: ${quoted(String(p.reason))}` : "";
    const text = `${p.answeredBy || "someone"} ${how} ${what}${changed}${link}${why}`;
    return budget ? phrase(text, "budget", "answered") : phrase(text, "answered");
  },
  INPUT_EXPIRING: () => phrase("the time to answer is nearly over"),
  INPUT_EXTENDED: () => phrase("nobody answered in time, and the question got more time"),
  INPUT_EXPIRED: () => phrase("nobody answered in time", "answered"),
  CALL_PENDING: ({ payload: p }) => phrase(`the work of ${p.toolName} goes on elsewhere${because(p.note)}`),
  MESSAGES_DROPPED: () => minor("messages left the view, and are a branch now", "edit"),
  MESSAGES_RESTORED: ({ payload: p }) => phrase(`a branch came back with ${count(p.count)} messages`, "edit"),
  STEERED: ({ payload: p }, { messages }) => {
    const message = messages.get(p.messageId);
    const what = message ? `the message ${quoteOf(message)}` : "a message";
    return phrase(`${what} was put into the run, after step ${p.steps}`, "steered");
  },
  CONTEXT_COMPACTED: ({ payload: p }) =>
    phrase(`${count(p.summarizedMessages)} messages were summarised for the model`, "compacted"),
  TOKEN_BUDGET_EXHAUSTED: () => phrase("the budget of tokens is used up", "budget"),
  COST_BUDGET_EXHAUSTED: ({ payload: p }) =>
    phrase(
      p.unpricedModel ? `the run came to ${p.unpricedModel}, which has no price` : "the budget of money is used up",
      "budget",
    ),
  TOOL_CALL_BUDGET_EXHAUSTED: () => phrase("the budget of tool calls is used up", "budget"),
  TIME_BUDGET_EXHAUSTED: () => phrase("the budget of time is used up", "budget"),
  TIME_LIMIT_REACHED: () => phrase("the run worked for as long as the server lets a run", "budget"),
  STORAGE_LIMIT_REACHED: () => phrase("the tenant stores as much as it may", "budget"),
  OUTPUT_REJECTED: ({ payload: p }) =>
    phrase(`the answer does not fit the schema${p.repair ? ", and the model is asked again" : ""}`, "failed"),
  MODEL_FALLBACK: ({ payload: p }) =>
    phrase(`the model ${p.from} failed (${p.cause}), and the run goes on with ${p.to}`, "failed"),
  FILE_DROPPED: ({ payload: p }) =>
    phrase(
      `the model ${p.model} does not get ${p.artifactId ? `the file ${p.artifactId}` : "images and files of tool results"}`,
    ),
  HANDED_OVER: ({ payload: p }) => phrase(`${p.from} handed the thread to ${p.to}`, "handover"),
  RUN_REFUSED: ({ payload: p }) => phrase(`a worker refused the run: ${p.error || p.reason}`, "failed"),
};

/** Whether another worker has to replace the one of a segment. Others give their runs back. */
function isGone({ status, error }: EntryOf<"RUN_ENDED">["payload"]): boolean {
  return status === "lost" && error === "the worker went away";
}

/** The text of a message in quotes, in one line. */
export function quoteOf({ content }: Message): string {
  const parts = Array.isArray(content) ? content : [];
  return quoted(
    typeof content === "string"
      ? content
      : parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join(" "),
  );
}

// What each commit of a thread did, for a person: one sentence, and the marks that somebody who looks back searches for.
import type { Message, Part, ThreadEvent } from "@spool/client";
import type { DeltaRun, RecordVersion, ThreadRecord } from "@spool/client/record";
import { failureOf } from "../thread/failure.js";
import { askOf, budgetOf, droppedOf, linkOf, unpricedOf } from "../thread/why.js";
import { count, money } from "../ui/format.js";

/** What a mark is about. The order is that of their weight, the heaviest first. */
export const markKinds = [
  "lost",
  "takeover",
  "redone",
  "failed",
  "budget",
  "edit",
  "compacted",
  "handover",
  "asked",
  "answered",
  "steered",
  "start",
  "end",
] as const;

export type MarkKind = (typeof markKinds)[number];

/** The kinds in words. */
export const markWords: Record<MarkKind, string> = {
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
};

/** What one commit did. */
export interface Facts {
  readonly version: number;
  readonly at: string;
  readonly caption: string;
  /** The heaviest one first. */
  readonly marks: readonly MarkKind[];
}

/** Returns the facts of all versions, the first one first. */
export function factsOf(record: ThreadRecord): Facts[] {
  const teller = new Teller(record);
  return record.versions.map((version) => teller.tell(version));
}

const names = new Intl.ListFormat("en");
type Payload = Record<string, unknown>;
type Changes = NonNullable<RecordVersion["delta"]["view"]>;

/** Tells one version after the other. */
class Teller {
  readonly #runs = new Map<string, DeltaRun>();
  readonly #asked = new Map<string, Payload>();
  /** Runs whose unfinished step is done again. */
  readonly #redo = new Set<string>();
  #thread: RecordVersion["delta"]["thread"];
  #said: string[] = [];
  #marks = new Set<MarkKind>();

  constructor(readonly record: ThreadRecord) {
    this.#thread = record.versions[0] && record.at(record.versions[0].version).thread;
  }

  tell({ version, at, delta, entries }: RecordVersion): Facts {
    this.#said = [];
    this.#marks = new Set();
    if (version === 0) {
      const caption = "The thread as it was before the server kept what each commit changes.";
      return { version, at, caption, marks: [] };
    }
    const view = delta.view ?? [];
    const ends = entries.some((e) => e.type === "RUN_ENDED");
    const lost = entries.some((e) => e.type === "RUN_ENDED" && payloadOf(e).status === "lost");
    // What an agent said comes before the end of its run, and the next turn after it.
    this.#answers(view);
    if (!ends) {
      this.#turns(view, entries);
    }
    for (const entry of entries) {
      this.#entry(entry, lost);
    }
    if (ends) {
      this.#turns(view, entries);
    }
    for (const run of delta.runs ?? []) {
      this.#run(run);
    }
    this.#renamed(delta.thread);
    if (this.#said.length === 0) {
      const state = delta.thread?.state.toLowerCase().replaceAll("_", " ");
      this.#said.push(state === undefined ? "the numbers of a run changed" : `the thread is ${state}`);
    }
    return {
      version,
      at,
      caption: sentence(this.#said.slice(0, 3).join("; ")),
      marks: markKinds.filter((kind) => this.#marks.has(kind)),
    };
  }

  #say(text: string, ...marks: MarkKind[]): void {
    this.#said.push(text);
    for (const mark of marks) {
      this.#marks.add(mark);
    }
  }

  #entry(e: ThreadEvent, lost: boolean): void {
    const p = payloadOf(e);
    const runId = e.runId ?? "";
    switch (e.type as string) {
      case "RUN_STARTED":
        if (lost) {
          this.#say(`another worker took the run over, with segment ${p.segment}`, "takeover");
        } else if (p.segment === 1) {
          this.#say("a worker began the run", "start");
        } else {
          this.#say(`a worker went on with the run, with segment ${p.segment}`);
        }
        return;
      case "RUN_ENDED":
        this.#ended(runId, p);
        return;
      case "INPUT_REQUIRED": {
        this.#asked.set(String(p.toolCallId), p);
        const park = { reason: String(p.about ?? p.reason), toolName: String(p.toolName) };
        if (park.reason === "budget_reached") {
          this.#say(
            `the budget of ${budgetOf(p.arguments)} is used up, and the run asks for a new one`,
            "budget",
            "asked",
          );
        } else {
          this.#say(`the run waits for someone to ${askOf(park)}`, "asked");
        }
        return;
      }
      case "HITL_RESPONSE": {
        const asked = this.#asked.get(String(p.toolCallId));
        const who = p.answeredBy ? String(p.answeredBy) : "someone";
        const budget = asked?.about === "budget_reached";
        const what = budget ? "a new budget" : String(asked?.toolName ?? "the call");
        const how = p.arguments === undefined ? "" : " with other arguments";
        const why = p.reason ? `: “${clipped(String(p.reason))}”` : "";
        this.#say(
          `${who} ${p.approved ? "approved" : "denied"} ${what}${how}${linkOf(p)}${why}`,
          "answered",
          ...(budget ? (["budget"] as const) : []),
        );
        return;
      }
      case "INPUT_EXPIRED":
        this.#say("nobody answered in time", "answered");
        return;
      case "INPUT_EXTENDED":
        this.#say("nobody answered in time, and the question got more time");
        return;
      case "INPUT_EXPIRING":
        this.#say("the time to answer is nearly over");
        return;
      case "CALL_PENDING":
        this.#say(`the work of ${p.toolName} goes on elsewhere${p.note ? `: ${p.note}` : ""}`);
        return;
      case "STEERED": {
        const message = this.record.messages.get(String(p.messageId));
        const what = message ? `the message “${glanceOf(message)}”` : "a message";
        this.#say(`${what} was put into the run, after step ${p.steps}`, "steered");
        return;
      }
      case "CONTEXT_COMPACTED":
        this.#say(`${count(Number(p.summarizedMessages))} messages were summarised for the model`, "compacted");
        return;
      case "TOKEN_BUDGET_EXHAUSTED":
      case "COST_BUDGET_EXHAUSTED":
      case "TOOL_CALL_BUDGET_EXHAUSTED":
      case "TIME_BUDGET_EXHAUSTED":
        this.#say(unpricedOf(p) ?? `the budget of ${budgetWords[e.type as string]} is used up`, "budget");
        return;
      case "TIME_LIMIT_REACHED":
        this.#say("the run worked for as long as the server lets a run", "budget");
        return;
      case "STORAGE_LIMIT_REACHED":
        this.#say("the tenant stores as much as it may", "budget");
        return;
      case "OUTPUT_REJECTED":
        this.#say(`the answer does not fit the schema${p.repair ? ", and the model is asked again" : ""}`, "failed");
        return;
      case "MODEL_FALLBACK":
        this.#say(`the model ${p.from} failed, and the run goes on with ${p.to}`, "failed");
        return;
      case "FILE_DROPPED":
        this.#say(droppedOf(p));
        return;
      case "HANDED_OVER":
        this.#say(`${p.from} handed the thread to ${p.to}`, "handover");
        return;
      case "RUN_REFUSED":
        this.#say(`a worker refused the run: ${p.error ?? p.reason}`, "failed");
        return;
      case "MESSAGES_DROPPED":
      case "MESSAGES_RESTORED":
        return; // the view says it
      default:
        this.#say(`the application published ${e.type}`);
    }
  }

  #ended(runId: string, p: Payload): void {
    const why = p.error ? `: ${p.error}` : "";
    switch (p.status) {
      case "lost":
        this.#redo.add(runId);
        // Only a worker that another one has to replace is gone. Others give their runs back.
        if (p.error === "the worker went away") {
          this.#say(`the worker of segment ${p.segment} was lost`, "lost");
        } else {
          this.#say(`the worker of segment ${p.segment} gave the run back${why}`, "lost");
        }
        return;
      case "error":
        if (typeof p.retryAfterMs === "number") {
          this.#redo.add(runId);
        }
        this.#say(`segment ${p.segment} failed${why}${p.retryAfterMs ? ", and the run is tried again" : ""}`, "failed");
        return;
      case "parked":
        if (this.#said.length === 0) {
          this.#say("the run waits without a worker");
        }
        return;
      case "stopped":
        this.#say("the run was stopped", "end");
        return;
      default:
        if (!this.#marks.has("handover")) {
          this.#say(`the run ended${p.stopReason ? ` (${String(p.stopReason).replaceAll("_", " ")})` : ""}`, "end");
        }
    }
  }

  /** The messages that a change of the view has added. */
  #added(changes: Changes): Message[] {
    return changes.flatMap(({ add }) => add ?? []).flatMap((id) => this.record.messages.get(id) ?? []);
  }

  #answers(changes: Changes): void {
    for (const message of this.#added(changes)) {
      const nested = message.agentId === null ? undefined : this.#runs.get(message.agentId)?.agent;
      const who = message.agentId === null ? "the agent" : `the nested run ${nested ?? message.agentId}`;
      const calls = partsOf(message).filter((part) => part.type === "tool-call");
      const ended = partsOf(message).filter((part) => part.type === "tool-result");
      const failures = ended.map((part) => failureOf(part.result));
      const results = ended.filter((_, i) => failures[i] === null);
      if (message.role === "assistant" && calls.length > 0) {
        this.#said.push(`${who} called ${toolsOf(calls)}`);
      } else if (message.role === "assistant") {
        this.#said.push(`${who} said “${glanceOf(message)}”`);
      }
      for (const [i, why] of failures.entries()) {
        if (why !== null) {
          this.#say(`${ended[i]?.toolName ?? "a tool"} failed: “${clipped(why)}”`, "failed");
        }
      }
      if (results.length > 0) {
        const many = results.length > 1;
        this.#said.push(`the result${many ? "s" : ""} of ${toolsOf(results)} ${many ? "were" : "was"} saved`);
      }
    }
  }

  #turns(changes: Changes, entries: readonly ThreadEvent[]): void {
    const turn = this.#added(changes).find((m) => m.role === "user" && m.agentId === null);
    const restored = changes.some((change) => change.restore);
    if (restored) {
      const entry = entries.find((e) => e.type === "MESSAGES_RESTORED");
      const n = entry === undefined ? "its" : count(Number(payloadOf(entry).count));
      this.#say(`a branch came back with ${n} messages`, "edit");
    } else if (changes.some((change) => change.drop)) {
      const by = turn ? `“${glanceOf(turn)}” replaced an earlier turn, whose messages` : "messages left the view, and";
      this.#say(`${by} are a branch now`, "edit");
    } else if (turn !== undefined && !entries.some((e) => e.type === "STEERED")) {
      this.#said.push(`the user said “${glanceOf(turn)}”`);
    }
  }

  #run(run: DeltaRun): void {
    const old = this.#runs.get(run.id);
    this.#runs.set(run.id, run);
    if (old === undefined) {
      if (run.place) {
        const content = run.wait?.content;
        const what = typeof content === "string" ? ` “${clipped(content)}”` : "";
        this.#said.push(`the message${what} waits for the thread (${run.wait?.whenBusy ?? "enqueue"})`);
      } else if (run.depth > 0) {
        this.#said.push(`the nested run ${run.agent} began`);
      }
      return;
    }
    if (run.depth === 0 && run.steps > old.steps && this.#redo.delete(run.id)) {
      this.#say(`step ${run.steps} was done again, and saved`, "redone");
    }
    if (run.totalTokens > old.totalTokens && this.#said.length === 0) {
      const who = run.depth > 0 ? `the nested run ${run.agent}` : "the run";
      this.#said.push(`the model answered, and ${who} has used ${count(run.totalTokens)} tokens`);
    }
    if (run.depth > 0 && run.state !== old.state && run.endedAt !== undefined) {
      this.#said.push(`the nested run ${run.agent} ended: ${run.state.toLowerCase()}`);
    }
    if (old.place && run.endedAt !== undefined && run.state === "CANCELLED") {
      this.#said.push("a message that waited was cancelled");
    }
    if (run.depth === 0 && run.endedAt !== undefined && old.endedAt === undefined && run.state === "FAILED") {
      this.#say(`the run failed${run.error ? `: ${run.error}` : ""}`, "failed", "end");
    }
    const raised = [
      run.tokenBudget !== old.tokenBudget && `${count(run.tokenBudget ?? 0)} tokens`,
      run.costBudgetMicros !== old.costBudgetMicros && money(run.costBudgetMicros ?? 0, run.currency),
      run.toolCallBudget !== old.toolCallBudget && `${count(run.toolCallBudget ?? 0)} tool calls`,
    ].filter((text) => text !== false);
    if (raised.length > 0 && run.depth === 0) {
      this.#say(`the budget is ${names.format(raised)} from now on`, "budget");
    }
  }

  #renamed(thread: RecordVersion["delta"]["thread"]): void {
    const old = this.#thread;
    this.#thread = thread ?? old;
    if (thread === undefined || old === undefined || this.#said.length > 0) {
      return;
    }
    if (thread.title !== old.title) {
      this.#said.push(`the title is “${clipped(thread.title)}”`);
    } else if (thread.owner !== old.owner) {
      this.#said.push(`the thread belongs to ${thread.owner ?? "nobody"}`);
    } else if (JSON.stringify(thread.labels) !== JSON.stringify(old.labels)) {
      this.#said.push("the labels changed");
    }
  }
}

const budgetWords: Record<string, string> = {
  TOKEN_BUDGET_EXHAUSTED: "tokens",
  COST_BUDGET_EXHAUSTED: "money",
  TOOL_CALL_BUDGET_EXHAUSTED: "tool calls",
  TIME_BUDGET_EXHAUSTED: "time",
};

/** The text as a sentence. Names keep their case. */
function sentence(text: string): string {
  const begin = /^(a|an|another|messages|nobody|segment|someone|step|the)\b/.test(text)
    ? text.charAt(0).toUpperCase() + text.slice(1)
    : text;
  return /[.?!]”?$/.test(begin) ? begin : `${begin}.`;
}

function payloadOf(e: ThreadEvent): Payload {
  return (e.payload ?? {}) as unknown as Payload;
}

function partsOf(message: Message): readonly Part[] {
  return Array.isArray(message.content) ? message.content : [];
}

/** The tools of calls or results, each once. */
function toolsOf(parts: readonly Part[]): string {
  const times = new Map<string, number>();
  for (const part of parts) {
    const name = "toolName" in part ? part.toolName : "a tool";
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  return names.format([...times].map(([name, n]) => (n > 1 ? `${name} (${n} times)` : name)));
}

function glanceOf(message: Message): string {
  const text =
    typeof message.content === "string"
      ? message.content
      : partsOf(message)
          .map((part) => (part.type === "text" ? (part.text ?? "") : ""))
          .join(" ");
  return clipped(text);
}

function clipped(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

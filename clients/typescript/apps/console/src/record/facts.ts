// What each commit of a thread did, for a person: one sentence, and the marks that somebody who looks back searches for.
import type { Message, Part, ThreadEvent } from "@spool/client";
import type { DeltaRun, RecordVersion, ThreadRecord } from "@spool/client/record";
import { failureOf } from "../thread/failure.js";
import { count, money, quoted } from "../ui/format.js";
import { type MarkKind, markKinds, type Phrase, quoteOf, speaker } from "../words/entry.js";

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
type Changes = NonNullable<RecordVersion["delta"]["view"]>;

/** Tells one version after the other. */
class Teller {
  readonly #words: ReturnType<typeof speaker>;
  readonly #runs = new Map<string, DeltaRun>();
  /** Runs whose unfinished step is done again. */
  readonly #redo = new Set<string>();
  #thread: RecordVersion["delta"]["thread"];
  #sentences: string[] = [];
  #marks = new Set<MarkKind>();

  constructor(readonly record: ThreadRecord) {
    this.#words = speaker(record.messages);
    this.#thread = record.versions[0] && record.at(record.versions[0].version).thread;
  }

  tell({ version, at, delta, entries }: RecordVersion): Facts {
    this.#sentences = [];
    this.#marks = new Set();
    const phrases = entries.map(this.#words);
    if (version === 0) {
      const caption = "The thread as it was before the server kept what each commit changes.";
      return { version, at, caption, marks: [] };
    }
    const view = delta.view ?? [];
    const ends = entries.some((e) => e.type === "RUN_ENDED");
    // What an agent said comes before the end of its run, and the next turn after it.
    this.#answers(view);
    if (!ends) {
      this.#turns(view, entries, phrases);
    }
    for (const { text, marks } of phrases.filter((one) => !one.minor)) {
      this.#add(text, ...marks);
    }
    if (ends) {
      this.#turns(view, entries, phrases);
    }
    const minor = phrases.find((one) => one.minor);
    if (minor !== undefined && this.#sentences.length === 0) {
      this.#add(minor.text, ...minor.marks);
    }
    this.#lost(entries);
    for (const run of delta.runs ?? []) {
      this.#run(run);
    }
    this.#renamed(delta.thread);
    if (this.#sentences.length === 0) {
      const state = delta.thread?.state.toLowerCase().replaceAll("_", " ");
      this.#sentences.push(state === undefined ? "the numbers of a run changed" : `the thread is ${state}`);
    }
    return {
      version,
      at,
      caption: sentence(this.#sentences.slice(0, 3).join("; ")),
      marks: markKinds.filter((kind) => this.#marks.has(kind)),
    };
  }

  #add(text: string, ...marks: MarkKind[]): void {
    this.#sentences.push(text);
    for (const mark of marks) {
      this.#marks.add(mark);
    }
  }

  /** Remembers the runs whose unfinished step is done again. */
  #lost(entries: readonly ThreadEvent[]): void {
    for (const e of entries) {
      if (e.type === "RUN_ENDED" && (e.payload.status === "lost" || e.payload.retryAfterMs !== undefined)) {
        this.#redo.add(e.runId ?? "");
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
        this.#sentences.push(`${who} called ${toolsOf(calls)}`);
      } else if (message.role === "assistant") {
        this.#sentences.push(`${who} said ${quoteOf(message)}`);
      }
      for (const [i, why] of failures.entries()) {
        if (why !== null) {
          this.#add(`${ended[i]?.toolName ?? "a tool"} failed: ${quoted(why)}`, "failed");
        }
      }
      if (results.length > 0) {
        const many = results.length > 1;
        this.#sentences.push(`the result${many ? "s" : ""} of ${toolsOf(results)} ${many ? "were" : "was"} saved`);
      }
    }
  }

  #turns(changes: Changes, entries: readonly ThreadEvent[], phrases: readonly Phrase[]): void {
    const turn = this.#added(changes).find((m) => m.role === "user" && m.agentId === null);
    const has = (type: string) => entries.some((e) => e.type === type);
    const dropped = phrases[entries.findIndex((e) => e.type === "MESSAGES_DROPPED")];
    if (has("MESSAGES_RESTORED")) {
      return; // the entry says it
    }
    if (dropped !== undefined) {
      const edit = turn && `${quoteOf(turn)} replaced an earlier turn, whose messages are a branch now`;
      this.#add(edit ?? dropped.text, ...dropped.marks);
    } else if (turn !== undefined && !has("STEERED")) {
      this.#sentences.push(`the user said ${quoteOf(turn)}`);
    }
  }

  #run(run: DeltaRun): void {
    const old = this.#runs.get(run.id);
    this.#runs.set(run.id, run);
    if (old === undefined) {
      if (run.place) {
        const content = run.wait?.content;
        const what = typeof content === "string" ? ` ${quoted(content)}` : "";
        this.#sentences.push(`the message${what} waits for the thread (${run.wait?.whenBusy ?? "enqueue"})`);
      } else if (run.depth > 0) {
        this.#sentences.push(`the nested run ${run.agent} began`);
      }
      return;
    }
    if (run.depth === 0 && run.steps > old.steps && this.#redo.delete(run.id)) {
      this.#add(`step ${run.steps} was done again, and saved`, "redone");
    }
    if (run.totalTokens > old.totalTokens && this.#sentences.length === 0) {
      const who = run.depth > 0 ? `the nested run ${run.agent}` : "the run";
      this.#sentences.push(`the model answered, and ${who} has used ${count(run.totalTokens)} tokens`);
    }
    if (run.depth > 0 && run.state !== old.state && run.endedAt !== undefined) {
      this.#sentences.push(`the nested run ${run.agent} ended: ${run.state.toLowerCase()}`);
    }
    if (old.place && run.endedAt !== undefined && run.state === "CANCELLED") {
      this.#sentences.push("a message that waited was cancelled");
    }
    if (run.depth === 0 && run.endedAt !== undefined && old.endedAt === undefined && run.state === "FAILED") {
      this.#add(`the run failed${run.error ? `: ${run.error}` : ""}`, "failed", "end");
    }
    const raised = [
      run.tokenBudget !== old.tokenBudget && `${count(run.tokenBudget ?? 0)} tokens`,
      run.costBudgetMicros !== old.costBudgetMicros && money(run.costBudgetMicros ?? 0, run.currency),
      run.toolCallBudget !== old.toolCallBudget && `${count(run.toolCallBudget ?? 0)} tool calls`,
    ].filter((text) => text !== false);
    if (raised.length > 0 && run.depth === 0) {
      this.#add(`the budget is ${names.format(raised)} from now on`, "budget");
    }
  }

  #renamed(thread: RecordVersion["delta"]["thread"]): void {
    const old = this.#thread;
    this.#thread = thread ?? old;
    if (thread === undefined || old === undefined || this.#sentences.length > 0) {
      return;
    }
    if (thread.title !== old.title) {
      this.#sentences.push(`the title is ${quoted(thread.title)}`);
    } else if (thread.owner !== old.owner) {
      this.#sentences.push(`the thread belongs to ${thread.owner ?? "nobody"}`);
    } else if (JSON.stringify(thread.labels) !== JSON.stringify(old.labels)) {
      this.#sentences.push("the labels changed");
    }
  }
}

/** The text as a sentence. Names keep their case. */
function sentence(text: string): string {
  const begin = /^(a|an|another|messages|nobody|segment|someone|step|the)\b/.test(text)
    ? text.charAt(0).toUpperCase() + text.slice(1)
    : text;
  return /[.?!]”?$/.test(begin) ? begin : `${begin}.`;
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

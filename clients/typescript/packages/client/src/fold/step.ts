// What one agent has said since its last finished step, and the messages that it will be.
import type { Draft, DraftPart, ViewMessage } from "../view.js";
import type { Part } from "../wire.js";
import type { Content } from "./content.js";
import { runOfStream, text } from "./item.js";
import { merged } from "./share.js";

/** The step after the content of an item at an offset. */
export function stepAfter(step: Draft, offset: string, c: Content): Draft {
  if (c.type === "tool-result") return withResult(step, offset, c);
  const at = c.act ? step.parts.findLastIndex((p) => p.type === c.type && p.id === c.id) : -1;
  const before = step.parts[at];
  const after = partAfter(before ?? { type: c.type, id: c.id, text: "" }, c);
  if (before) return after === before ? step : { ...step, parts: step.parts.with(at, after) };
  return { ...step, began: step.parts.length > 0 ? step.began : offset, parts: [...step.parts, after] };
}

function withResult(step: Draft, offset: string, { id: toolCallId, fields }: Content): Draft {
  const { result, sources } = fields;
  if (result?.__hitl_parked__) return step; // it is no result yet
  const named = [sources ?? []].flat().map((s) => ({ ...s, type: "source" as const, toolCallId }));
  return {
    ...step,
    landed: step.results.length > 0 ? step.landed : offset,
    results: [...step.results, { type: "tool-result", toolCallId, toolName: text(fields.toolName), result }, ...named],
  };
}

function partAfter(part: DraftPart, { type, act, fields }: Content): DraftPart {
  if (!act) return { ...part, part: fields };
  const delta = text(fields.delta);
  if (delta) return { ...part, text: part.text + delta };
  if (type !== "tool-call" || act === "ARGS") return part;
  const called = { ...part, toolName: text(fields.toolName) };
  return act === "END" ? { ...called, args: fields.args, sentArgs: fields.sentArgs, whole: true } : called;
}

const rendered = new WeakMap<Draft, { threadId: string; messages: readonly ViewMessage[] }>();

/**
 * The step in the form in which it will be saved: a message of the agent, and one with the results of its calls. The
 * same step gives the same objects.
 */
export function messagesOf(step: Draft, threadId: string): readonly ViewMessage[] {
  const known = rendered.get(step);
  if (known?.threadId === threadId) return known.messages;
  const message = (role: "assistant" | "tool", began: string, content: ViewMessage["content"]): ViewMessage => ({
    id: `${step.streamId}:${began}`,
    threadId,
    role,
    content,
    runId: step.agentId || runOfStream(step.streamId),
    agentId: step.agentId || null,
  });
  const messages: ViewMessage[] = [];
  const parts = step.parts.flatMap(partOf);
  const [only] = parts;
  if (only) {
    const content = parts.length === 1 && only.type === "text" ? (only.text ?? "") : parts;
    messages.push(message("assistant", step.began, content));
  }
  if (step.results.length > 0) messages.push(message("tool", step.landed, inCallOrder(step)));
  rendered.set(step, { threadId, messages });
  return messages;
}

/** A part of the message. A block without text is none. */
function partOf(part: DraftPart): Part[] {
  if (part.part) return [part.part];
  if (part.type !== "tool-call") return part.text ? [{ type: part.type, text: part.text } as Part] : [];
  const { toolName, sentArgs } = part;
  const args = part.whole ? part.args : part.text;
  return [merged<object>({ type: "tool-call", toolCallId: part.id }, { toolName, args, sentArgs } as object) as Part];
}

/** The results in the order of the calls, in which they are saved. */
function inCallOrder(step: Draft): Part[] {
  const place = (id: string) => step.parts.findIndex((p) => p.type === "tool-call" && p.id === id);
  return step.results.toSorted((a, b) => place(a.toolCallId) - place(b.toolCallId));
}

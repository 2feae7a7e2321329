// What agents say in the step that they are in, and the messages that it will be.
import type { Draft, DraftPart, ThreadView, ViewMessage } from "../view.js";
import type { Part } from "../wire.js";
import { put } from "./share.js";

/** An item as it comes: flat, and of any kind. */
export interface AnyItem {
  readonly type: string;
  readonly offset?: string;
  readonly [field: string]: unknown;
}

/** Whether an item is content, which a draft grows by. */
export const isContent = (type: string) =>
  /^((TEXT_MESSAGE|REASONING|TOOL_CALL)_(START|CONTENT|ARGS|END|RESULT)|SOURCE|FILE)$/.test(type);

/** The run of a stream. */
export const runOfStream = (streamId: string) => streamId.slice(0, Math.max(0, streamId.lastIndexOf(":")));

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** The draft after a content item. */
export function grown(draft: Draft, item: AnyItem): Draft {
  const { type, offset = "", ...fields } = item;
  const delta = text(item.delta);
  if (type === "SOURCE" || type === "FILE") {
    const part = { ...fields, type: item.image ? "image" : type.toLowerCase() } as Part;
    return withPart(draft, offset, "whole", `${draft.parts.length}`, (p) => ({ ...p, part }));
  }
  if (!type.startsWith("TOOL_CALL")) {
    const kind = type.startsWith("TEXT") ? "text" : "reasoning";
    return withPart(draft, offset, kind, text(item.messageId), (p) => (delta ? { ...p, text: p.text + delta } : p));
  }
  const toolCallId = text(item.toolCallId);
  const toolName = text(item.toolName);
  if (type === "TOOL_CALL_RESULT") {
    const { result, sources } = item;
    if ((result as Record<string, unknown> | null)?.__hitl_parked__) return draft; // it is no result yet
    return {
      ...draft,
      landed: draft.results.length > 0 ? draft.landed : offset,
      results: [
        ...draft.results,
        { type: "tool-result", toolCallId, toolName, result },
        ...[sources ?? []].flat().map((s) => ({ ...(s as object), type: "source" as const, toolCallId })),
      ],
    };
  }
  return withPart(draft, offset, "tool-call", toolCallId, (p) => {
    if (type === "TOOL_CALL_START") return { ...p, toolName };
    if (type === "TOOL_CALL_ARGS") return { ...p, text: p.text + delta };
    return { ...p, toolName, args: item.args, sentArgs: item.sentArgs, whole: true };
  });
}

/** The draft with another part, which begins with the item if it is new. */
function withPart(
  draft: Draft,
  offset: string,
  type: DraftPart["type"],
  id: string,
  change: (part: DraftPart) => DraftPart,
): Draft {
  const at = draft.parts.findLastIndex((p) => p.type === type && p.id === id);
  const before = draft.parts[at];
  if (before) {
    const after = change(before);
    return after === before ? draft : { ...draft, parts: draft.parts.with(at, after) };
  }
  return {
    ...draft,
    began: draft.parts.length > 0 ? draft.began : offset,
    parts: [...draft.parts, change({ type, id, text: "" })],
  };
}

/** The view with other drafts. */
export function withDrafts(view: ThreadView, drafts: readonly Draft[]): ThreadView {
  if (drafts === view.reading.drafts) return view;
  return {
    ...view,
    reading: { ...view.reading, drafts },
    drafts: drafts.length > 0 ? drafts.flatMap((d) => messagesOf(d, view.thread.id)) : none,
  };
}

const none: readonly ViewMessage[] = [];

/** The view after an agent has said something. */
export function withContent(view: ThreadView, agentId: string, streamId: string, item: AnyItem): ThreadView {
  const known = view.reading.drafts.find((d) => d.agentId === agentId);
  const draft = grown(known ?? { agentId, streamId, parts: [], began: "", results: [], landed: "" }, item);
  if (draft === known) return view;
  return withDrafts(
    view,
    put(view.reading.drafts, draft, (d) => d.agentId === agentId),
  );
}

const rendered = new WeakMap<Draft, { threadId: string; messages: readonly ViewMessage[] }>();

/**
 * The draft in the form in which its step will be saved: a message of the agent, and one with the results of its calls.
 * The same draft gives the same objects.
 */
export function messagesOf(draft: Draft, threadId: string): readonly ViewMessage[] {
  const known = rendered.get(draft);
  if (known?.threadId === threadId) return known.messages;
  const message = (role: "assistant" | "tool", began: string, content: ViewMessage["content"]): ViewMessage => ({
    id: `${draft.streamId}:${began}`,
    threadId,
    role,
    content,
    runId: draft.agentId || runOfStream(draft.streamId),
    agentId: draft.agentId || null,
  });
  const messages: ViewMessage[] = [];
  const parts = draft.parts.flatMap(partOf);
  const [only] = parts;
  if (only) {
    messages.push(
      message("assistant", draft.began, parts.length === 1 && only.type === "text" ? (only.text ?? "") : parts),
    );
  }
  if (draft.results.length > 0) messages.push(message("tool", draft.landed, resultsOf(draft)));
  rendered.set(draft, { threadId, messages });
  return messages;
}

/** A part of the message. A block without text is none. */
function partOf(part: DraftPart): Part[] {
  if (part.part) return [part.part];
  if (part.type !== "tool-call") return part.text ? [{ type: part.type, text: part.text } as Part] : [];
  const call: Record<string, unknown> = { type: "tool-call", toolCallId: part.id };
  if (part.toolName) call.toolName = part.toolName;
  const args = part.whole ? part.args : part.text || null;
  if (args !== undefined && args !== null) call.args = args;
  if (part.sentArgs !== undefined) call.sentArgs = part.sentArgs;
  return [call as unknown as Part];
}

/** The results in the order of the calls, in which they are saved. */
function resultsOf(draft: Draft): Part[] {
  const place = (id: string) => draft.parts.findIndex((p) => p.type === "tool-call" && p.id === id);
  return draft.results.toSorted((a, b) => place(a.toolCallId) - place(b.toolCallId));
}

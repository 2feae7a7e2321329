// What a page shows of a message: a message of the view with the results and the states of its calls, or a turn that no
// message has yet. Everything here is pure.
import type { Message, OptimisticTurn, Park, Part, PendingCall, ThreadState, ViewMessage } from "@spool/client";

/**
 * How a call is. `streaming`: its arguments are not complete. `waiting`: a person has to answer. `denied`, `cancelled`
 * and `error` are ends without a result of the tool.
 */
export type ToolCallState = "streaming" | "waiting" | "running" | "done" | "error" | "denied" | "cancelled";

/** A call of a tool, with its result once there is one. */
export interface ShownToolCall {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments. While they stream: the text so far. */
  readonly args: unknown;
  readonly state: ToolCallState;
  readonly result?: unknown;
  /** The question that waits for an answer, if `state` is `waiting`. */
  readonly park?: Park;
  /** The work that goes on elsewhere. */
  readonly pending?: PendingCall;
  /** The sources that the result names. Left out: none. */
  readonly sources?: readonly ShownSource[];
  /** The run that the call has started. Its messages are those of `useMessages({ agentId })`. */
  readonly agentId?: string;
}

/** A part of a message as it is shown. */
export type ShownPart =
  | { readonly type: "text" | "reasoning" | "summary"; readonly text: string }
  | { readonly type: "image"; readonly image: string; readonly mimeType?: string }
  | { readonly type: "file"; readonly file: string; readonly fileName?: string; readonly mimeType?: string }
  | ShownSource
  | ShownToolCall;

/**
 * A page or a document that supports the message. Nothing has checked what it says. `url` begins with http: or https:,
 * and `spans` count the Unicode code points of `text` of the message.
 */
export interface ShownSource {
  readonly type: "source";
  readonly url?: string;
  readonly title?: string;
  readonly spans?: readonly { readonly start: number; readonly end: number }[];
}

/** A message as it is shown. Everything that has not changed is the same object as before. */
export interface ShownMessage {
  /** That of the message. For a turn that no message has yet, its `clientMessageId`. */
  readonly id: string;
  readonly role: Message["role"];
  /**
   * `saved`: it is a part of the thread. `streaming`: the model is at it. The others are turns of this client:
   * `sending` has no answer yet, `accepted` becomes a message next, and `queued` waits for another run.
   */
  readonly status: "saved" | "streaming" | "sending" | "accepted" | "queued";
  /** The text parts, without reasoning. */
  readonly text: string;
  readonly parts: readonly ShownPart[];
  /** The nested run that wrote it. `null`: the run's own agent, or the user. */
  readonly agentId: string | null;
  readonly runId?: string;
  readonly clientMessageId?: string;
  readonly createdAt?: string;
  /** The place in the queue, from 1, of a turn that waits. */
  readonly position?: number;
}

/** What {@link shown} needs to know of a thread beside the message. */
export interface Surroundings {
  /** The results by the ids of their calls, and the lists of sources that they name: see {@link sourcesOf}. */
  readonly results: ReadonlyMap<string, unknown> | undefined;
  readonly parks: readonly Park[];
  readonly pending: readonly PendingCall[];
  readonly runs: ThreadState["view"]["runs"];
}

/** The key of the sources of a call's result. No id of a call has a blank. */
export const sourcesOf = (id: string | undefined) => `${id} `;

/** Returns the text of a message's content, without reasoning and calls. */
export function textOf(content: Message["content"]): string {
  if (typeof content === "string") {
    return content;
  }
  if (!Array.isArray(content)) {
    return (content as { text?: string }).text ?? "";
  }
  return (content as readonly Part[]).map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Returns a message as it is shown. */
export function shown(message: ViewMessage, streaming: boolean, around: Surroundings): ShownMessage {
  return {
    id: message.id,
    role: message.role,
    status: streaming ? "streaming" : "saved",
    text: textOf(message.content),
    parts: partsOf(message, streaming, around),
    agentId: message.agentId,
    ...(message.runId !== undefined && { runId: message.runId }),
    ...(message.clientMessageId !== undefined && { clientMessageId: message.clientMessageId }),
    ...(message.createdAt !== undefined && { createdAt: message.createdAt }),
  };
}

/** Returns a turn that no message has yet as it is shown. */
export function shownTurn(turn: OptimisticTurn): ShownMessage {
  const parts: ShownPart[] = turn.prompt === "" ? [] : [{ type: "text", text: turn.prompt }];
  for (const { url, artifactId, mediaType, name } of turn.attachments) {
    const place = url ?? `artifact:${artifactId ?? ""}`;
    const type = mediaType === undefined ? {} : { mimeType: mediaType };
    parts.push(
      mediaType?.startsWith("image/") === false
        ? { type: "file", file: place, ...type, ...(name !== undefined && { fileName: name }) }
        : { type: "image", image: place, ...type },
    );
  }
  return {
    id: turn.clientMessageId,
    role: "user",
    status: turn.status,
    text: turn.prompt,
    parts,
    agentId: null,
    clientMessageId: turn.clientMessageId,
    createdAt: turn.sentAt,
    ...(turn.runId !== undefined && { runId: turn.runId }),
    ...(turn.position !== undefined && { position: turn.position }),
  };
}

function partsOf({ content, agentId }: ViewMessage, streaming: boolean, around: Surroundings): ShownPart[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ type: "text", text: content }];
  }
  if (!Array.isArray(content)) {
    return [{ type: "summary", text: textOf(content) }];
  }
  const parts: ShownPart[] = [];
  for (const part of content as readonly Part[]) {
    switch (part.type) {
      case "text":
      case "reasoning":
        parts.push({ type: part.type, text: part.text ?? "" });
        break;
      case "tool-call":
        parts.push(callOf(part, agentId, streaming, around));
        break;
      case "image":
      case "file":
      case "source":
        parts.push(part as ShownPart);
        break;
    }
  }
  return parts;
}

function callOf(
  call: { toolCallId: string; toolName: string; args?: unknown },
  agentId: string | null,
  streaming: boolean,
  { results, parks, pending, runs }: Surroundings,
): ShownToolCall {
  const same = (other: { toolCallId: string; agentId?: string | null }) =>
    other.toolCallId === call.toolCallId && (other.agentId ?? null) === agentId;
  const park = parks.find(same);
  const elsewhere = pending.find(same);
  const done = results?.has(call.toolCallId) === true;
  const result = results?.get(call.toolCallId);
  const sources = results?.get(sourcesOf(call.toolCallId)) as readonly ShownSource[] | undefined;
  let state: ToolCallState = "running";
  if (done) {
    state = endOfCall(result);
  } else if (park !== undefined) {
    state = "waiting";
  } else if (streaming && typeof call.args === "string") {
    state = "streaming";
  }
  const nested = agentOf(result) ?? nestedOf(call, agentId, runs)?.id;
  return {
    type: "tool-call",
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    args: call.args ?? null,
    state,
    ...(done && { result }),
    ...(sources && { sources }),
    ...(!done && park !== undefined && { park }),
    ...(!done && elsewhere !== undefined && { pending: elsewhere }),
    ...(nested !== undefined && { agentId: nested }),
  };
}

/** Returns how a call has ended, from the results that the engine makes itself: `done`, `error`, `denied` or `cancelled`. */
export function endOfCall(result: unknown): ToolCallState {
  if (typeof result === "string") {
    return result.startsWith("error: ") ? "error" : "done"; // as the engine saves what a tool returned as its error
  }
  if (typeof result !== "object" || result === null) {
    return "done";
  }
  const { denied, cancelled, error } = result as Record<string, unknown>;
  if (denied === true) {
    return "denied";
  }
  if (cancelled === true) {
    return "cancelled";
  }
  return typeof error === "string" ? "error" : "done";
}

/** Returns the nested run that a result is of. */
function agentOf(result: unknown): string | undefined {
  const id = typeof result === "object" && result !== null ? (result as { agentId?: unknown }).agentId : undefined;
  return typeof id === "string" ? id : undefined;
}

/** Returns the nested run that a call of an agent has started. */
export function nestedOf(call: { toolCallId: string }, agentId: string | null, runs: Surroundings["runs"]) {
  return runs.find(
    (run) =>
      run.parentToolCallId === call.toolCallId && (agentId === null ? run.depth === 1 : run.parentRunId === agentId),
  );
}

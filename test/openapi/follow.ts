// Follows a thread of Spool with the generated types alone, and says what it sees.
import type { components } from "./schema";

type Schemas = components["schemas"];

declare const process: { argv: string[] };

const address = process.argv[2] ?? "http://127.0.0.1:8080/api/agent/stream?threadId=t1";

// The compiler refuses a switch that has not every case.
function never(value: never): void {
  void value;
}

function frame(frame: Schemas["Frame"]): string {
  switch (frame.kind) {
    case "thread":
      return event(frame.event);
    case "stream":
      return `${frame.streamId} ${item(frame.item)}`;
    case "snapshot":
      return `snapshot of ${frame.snapshot.thread.id}: ${frame.snapshot.messages.map(message).join(", ")}`;
    default:
      never(frame);
      return "a kind to come";
  }
}

// Says what this client shows of the record. It ignores the other kinds, as those of a newer server.
function event(event: Schemas["Event"]): string {
  switch (event.type) {
    case "RUN_STARTED":
      return `segment ${event.payload.segment} starts`;
    case "RUN_ENDED":
      return `segment ${event.payload.segment} ends: ${event.payload.status}`;
    case "INPUT_REQUIRED":
      return `${event.payload.toolName} waits: ${event.payload.reason}`;
    case "HITL_RESPONSE":
      return `approved: ${event.payload.approved}`;
    case "MESSAGES_DROPPED":
    case "MESSAGES_RESTORED":
      return `from ${event.payload.fromMessageId}`;
    case "STATE_CHANGE":
      return `state ${event.payload.state}`;
    case "MESSAGE_APPENDED":
      return message(event.payload);
    case "THREAD_DELETED":
      return `${event.payload.threadId} is gone`;
    default:
      return `${event.type} at ${event.createdAt}`;
  }
}

function item(item: Schemas["Item"]): string {
  switch (item.type) {
    case "RUN_STARTED":
      return `run ${item.runId}`;
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
    case "REASONING_START":
    case "REASONING_CONTENT":
    case "REASONING_END":
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
    case "TOOL_CALL_RESULT":
    case "FILE":
    case "SOURCE":
      return said(item);
    case "STEP_FINISHED":
      return `step ${item.step}: ${item.usage.totalTokens} tokens`;
    case "INPUT_REQUIRED":
      return `${item.toolName} waits`;
    case "SUBAGENT_STARTED":
      return `${item.name} begins`;
    case "SUBAGENT_EVENT":
      return `${item.subagentId}: ${said(item.event)}`;
    case "SUBAGENT_FINISHED":
      return `${item.subagentId} ${item.status}`;
    case "WAITING_FOR_PROVIDER":
      return `waits for ${item.limit}`;
    case "CUSTOM":
      return item.name;
    case "RUN_FINISHED":
      return item.status;
    case "RUN_ERROR":
      return item.error;
    default:
      never(item);
      return "a kind to come";
  }
}

// What a run says, and a nested one too, which has no offset.
function said(item: Schemas["SubagentItem"]): string {
  switch (item.type) {
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_END":
    case "REASONING_START":
    case "REASONING_END":
      return item.messageId;
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_CONTENT":
      return item.delta;
    case "TOOL_CALL_START":
      return `calls ${item.toolName}`;
    case "TOOL_CALL_ARGS":
      return item.delta;
    case "TOOL_CALL_END":
      return JSON.stringify(item.args);
    case "TOOL_CALL_RESULT":
      return `${JSON.stringify(item.result)} ${(item.sources ?? []).map(source).join(" ")}`;
    case "FILE":
      return `${item.image ?? item.file} ${item.mimeType} ${item.fileName ?? ""}`;
    case "SOURCE":
      return source(item);
    default:
      never(item);
      return "a kind to come";
  }
}

// The address of a page, or the name of a document.
function source({ url, title }: Pick<Schemas["CitedSource"], "url" | "title">): string {
  return url ?? title ?? "";
}

function message(message: Schemas["Message"]): string {
  const { content } = message;
  if (typeof content === "string") {
    return `${message.role}: ${content}`;
  }
  return `${message.role}: ${Array.isArray(content) ? content.map(part).join(" ") : (content.text ?? "")}`;
}

function part(part: Schemas["Part"]): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text ?? "";
    case "image":
      return part.image;
    case "file":
      return part.fileName ?? part.file;
    case "tool-call":
      return `calls ${part.toolName}`;
    case "tool-result":
      return `result of ${part.toolName}`;
    case "source":
      return source(part);
    default:
      never(part);
      return "a kind to come";
  }
}

const response = await fetch(address);
if (response.status !== 200 || response.body === null) {
  throw new Error(`the stream is ${response.status}`);
}
const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
let text = "";
for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
  text += piece.value;
  for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
    const data = text.slice(0, end).split("\n").find((line) => line.startsWith("data: "));
    text = text.slice(end + 2);
    if (data !== undefined) {
      console.log(frame(JSON.parse(data.slice("data: ".length)) as Schemas["Frame"]));
    }
  }
}

// Reads server-sent events, as the HTML standard defines them, from pieces of text.
import { SpoolError } from "./error.js";

/** One event of a stream. */
export interface SseEvent {
  /** The last id of the stream so far, from this event or an earlier one. */
  readonly id: string;
  /** The type. `""` stands for `message`. */
  readonly name: string;
  readonly data: string;
}

/** What a reader tells, apart from events. */
export interface SseHandlers {
  onEvent(event: SseEvent): void;
  /** The stream asks for a wait before a new connection. */
  onRetry?(ms: number): void;
  /** A comment, which servers send as a sign of life. */
  onComment?(): void;
}

/** So many characters may an event have. */
const defaultMax = 64 << 20;

/**
 * Returns a function that takes the next piece of a stream. An event comes as soon as its blank line is there. The
 * function throws for an event with more characters than `max`, which also bounds what the reader keeps.
 */
export function sseReader(handlers: SseHandlers, max = defaultMax): (piece: string) => void {
  let started = false;
  let afterCR = false; // a LF that follows belongs to the line before
  let pending: string[] = []; // pieces of a line that is not complete
  let id = "";
  let name = "";
  let data: string[] = [];
  let partial = 0; // how many characters are in them
  let kept = 0; // how many are in the data

  const line = (text: string) => {
    if (text === "") {
      const event = { id, name, data: data.join("\n") };
      const has = data.length > 0;
      kept = 0;
      name = "";
      data = [];
      if (has) handlers.onEvent(event);
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return handlers.onComment?.();
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") {
      data.push(value);
      kept += value.length;
    } else if (field === "event") name = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d{1,12}$/.test(value)) handlers.onRetry?.(Number(value));
  };

  const count = (more: number) => {
    partial += more;
    if (kept + partial > max)
      throw new SpoolError("invalid", `an event has more than ${max} characters`, { reason: "event_too_large" });
  };

  return (piece) => {
    let text = piece;
    if (text === "") return;
    if (!started) {
      started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (afterCR && text !== "") {
      afterCR = false;
      if (text[0] === "\n") text = text.slice(1);
    }
    let from = 0;
    for (let at = end(text, from); at >= 0; at = end(text, from)) {
      const whole = pending.length > 0 ? pending.join("") + text.slice(from, at) : text.slice(from, at);
      pending = [];
      count(at - from);
      partial = 0;
      from = at + 1;
      if (text[at] === "\r") {
        if (from === text.length) afterCR = true;
        else if (text[from] === "\n") from++;
      }
      line(whole);
    }
    count(text.length - from);
    if (from < text.length) pending.push(text.slice(from));
  };
}

const lineEnd = /[\r\n]/g;

function end(text: string, from: number): number {
  lineEnd.lastIndex = from;
  return lineEnd.exec(text)?.index ?? -1;
}

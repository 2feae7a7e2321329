// The lines of a text that comes in parts.
import { SpoolError } from "../error.js";
import type { RecordSource } from "./types.js";

/** Yields the lines of a source, as many as there are at a time. It ignores an empty last line. */
export async function* linesOf(source: RecordSource, max: number): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let pending: string[] = []; // the beginning of a line, as it came
  let length = 0;
  let count = 0;
  for await (const chunk of partsOf(source)) {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines: string[] = [];
    let from = 0;
    for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      check(length + to - from, max, count + lines.length + 1);
      lines.push(pending.join("") + text.slice(from, to));
      pending = [];
      length = 0;
      from = to + 1;
    }
    count += lines.length;
    length += text.length - from;
    check(length, max, count + 1);
    if (from < text.length) pending.push(text.slice(from));
    if (lines.length > 0) yield lines;
  }
  const last = pending.join("") + decoder.decode();
  if (last !== "") yield [last];
}

function check(length: number, max: number, line: number): void {
  if (length > max) throw new SpoolError("invalid", `line ${line} of the record has more than ${max} characters`);
}

async function* partsOf(source: RecordSource): AsyncGenerator<Uint8Array | string> {
  if (typeof source === "string") {
    yield source;
    return;
  }
  const stream = "stream" in source ? source.stream() : "body" in source ? source.body : source;
  if (stream === null) return;
  if (!("getReader" in stream)) {
    yield* stream;
    return;
  }
  // Not all browsers can iterate over a stream.
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      ended = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!ended) await reader.cancel().catch(() => {});
  }
}

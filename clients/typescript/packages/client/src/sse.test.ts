import { describe, expect, test } from "vitest";
import { type Framed, fixture } from "./fixtures.test-util.js";
import { type SseEvent, sseReader } from "./sse.js";

function read(...pieces: string[]): { events: SseEvent[]; retries: number[]; comments: number } {
  const events: SseEvent[] = [];
  const retries: number[] = [];
  let comments = 0;
  const take = sseReader({
    onEvent: (e) => events.push(e),
    onRetry: (ms) => retries.push(ms),
    onComment: () => comments++,
  });
  for (const piece of pieces) take(piece);
  return { events, retries, comments };
}

const { frames } = fixture<{ frames: Framed[] }>("transcript");
const transcript = `retry: 1000\n\n${frames
  .map((f) => `${f.id === null ? "" : `id: ${f.id}\n`}data: ${JSON.stringify(f.frame)}\n\n: keepalive\n\n`)
  .join("")}`;
// The last id stays for an event without one.
const expected = frames.map((f, i) => ({
  id: frames.slice(0, i + 1).findLast((x) => x.id !== null)?.id ?? "",
  name: "",
  data: JSON.stringify(f.frame),
}));

describe("an event stream", () => {
  test("is read whole", () => {
    const { events, retries, comments } = read(transcript);
    expect(events).toEqual(expected);
    expect(retries).toEqual([1000]);
    expect(comments).toBe(frames.length);
  });

  for (const [name, end] of [
    ["LF", "\n"],
    ["CR", "\r"],
    ["CRLF", "\r\n"],
  ] as const) {
    test(`is read cut at every place, with ${name}`, () => {
      const text = `event: a\ndata: 1\ndata: 2\n\n${transcript.slice(0, 6_000)}`.replaceAll("\n", end);
      const whole = read(text).events;
      expect(whole.length).toBeGreaterThan(10);
      for (let at = 0; at <= text.length; at++) {
        const { events } = read(text.slice(0, at), text.slice(at));
        expect(events.length).toBe(whole.length);
        expect(events[0]).toEqual({ id: "", name: "a", data: "1\n2" });
      }
      expect(read(...text).events).toEqual(whole);
    });
  }

  test("is read cut at every byte, with characters of several bytes", () => {
    const text = '\ufeffid: 1 - -\ndata: "Grüße 👋"\n\n';
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at <= bytes.length; at++) {
      const decoder = new TextDecoder();
      const pieces = [bytes.slice(0, at), bytes.slice(at)].map((b) => decoder.decode(b, { stream: true }));
      expect(read(...pieces).events).toEqual([{ id: "1 - -", name: "", data: '"Grüße 👋"' }]);
    }
  });

  test.each([
    ["data of several lines", "data: a\ndata\ndata:  b\n\n", [{ id: "", name: "", data: "a\n\n b" }]],
    [
      "a name",
      "event: keepalive\ndata: {}\n\ndata: x\n\n",
      [
        { id: "", name: "keepalive", data: "{}" },
        { id: "", name: "", data: "x" },
      ],
    ],
    ["an id without data", "id: 7\n\ndata: x\n\n", [{ id: "7", name: "", data: "x" }]],
    ["an id with a NUL", "id: 7\nid: a\0b\ndata: x\n\n", [{ id: "7", name: "", data: "x" }]],
    ["an empty id", "id: 7\nid\ndata: x\n\n", [{ id: "", name: "", data: "x" }]],
    ["unknown fields", "foo: 1\ndata: x\nbar\n\n", [{ id: "", name: "", data: "x" }]],
    ["an event that is not complete", "data: x\n", []],
    ["a byte order mark within", "data: a\n\n\ufeffdata: b\n\n", [{ id: "", name: "", data: "a" }]],
  ])("has %s", (_, text, want) => {
    expect(read(text).events).toEqual(want);
  });

  test("has no event with more characters than the reader may keep", () => {
    const seen: string[] = [];
    const reader = () => sseReader({ onEvent: (e) => seen.push(e.data) }, 20);
    const tooLarge = expect.objectContaining({ code: "invalid", reason: "event_too_large" });
    for (const pieces of [
      ["data: 12345678901234567890"],
      ["data: 1234", "5678901234567890"],
      ["data: 1234567890\n", "data: 123", "45\n\n"],
      [`${"x".repeat(21)}\n\n`],
      Array(21).fill("x"),
    ]) {
      expect(() => pieces.forEach(reader())).toThrow(tooLarge);
    }
    expect(seen).toEqual([]);
    const take = reader();
    for (let i = 0; i < 50; i++)
      for (const piece of [": alive\n", "id: 12345\n", "data: 123456", "7890\n", "\n"]) take(piece);
    expect(seen).toEqual(Array(50).fill("1234567890"));
  });

  test("asks for a wait only with a number", () => {
    expect(read("retry: 20\nretry: 1s\nretry: -1\nretry:\nretry: 9999999999999\n\n").retries).toEqual([20]);
  });
});

import { describe, expect, test } from "vitest";
import { parseCursor } from "./cursor.js";
import { fixture } from "./fixtures.test-util.js";
import { frameOf, Place } from "./place.js";
import type { Frame } from "./wire.js";

const event = (seq: number, type: string, payload: unknown): Frame =>
  ({ kind: "thread", event: { threadId: "t1", seq, type, payload, createdAt: "" } }) as unknown as Frame;
const item = (streamId: string, offset: string): Frame =>
  ({ kind: "stream", streamId, item: { type: "CUSTOM", name: "x", value: 1, offset } }) as unknown as Frame;
const state = (name: string) => event(0, "STATE_CHANGE", { state: name });
const turn = (id: string) => event(0, "MESSAGE_APPENDED", { id });

describe("a place", () => {
  test("takes each entry and item once", () => {
    const place = new Place("4 r1:1 1-3");
    expect(place.accept(event(4, "receipt", 1), "4 r1:1 1-3")).toBe(null);
    expect(place.accept(item("r1:1", "1-3"), "4 r1:1 1-3")).toBe(null);
    expect(place.accept(item("r1:1", "1-10"), "4 r1:1 1-10")).toMatchObject({ cursor: "4 r1:1 1-10" });
    expect(place.accept(item("r1:1", "1-9"), undefined)).toBe(null);
    expect(place.accept(event(5, "RUN_STARTED", { streamId: "r1:2" }), undefined)).toMatchObject({
      cursor: "5 r1:2 -",
    });
    expect(place.accept(item("r1:2", "1-1"), undefined)).toMatchObject({ cursor: "5 r1:2 1-1" });
  });

  test("takes the state that begins a connection only if it is another one", () => {
    const place = new Place("");
    place.reconnected();
    expect(place.accept(state("RUNNING"), undefined)).not.toBe(null);
    place.reconnected();
    expect(place.accept(state("RUNNING"), undefined)).toBe(null);
    expect(place.accept(state("RUNNING"), undefined)).not.toBe(null); // the queue may have changed and changed back
    place.reconnected();
    expect(place.accept(state("COMPLETED"), undefined)).not.toBe(null);
    const thread = { id: "t1", state: "RUNNING" };
    place.accept({ kind: "snapshot", snapshot: { thread, messages: [], lastEventSeq: 3 } } as never, "3 - -");
    place.reconnected();
    expect(place.accept(state("COMPLETED"), undefined)).not.toBe(null); // a snapshot has said something else
  });

  test("takes each turn once, until the next entry", () => {
    const place = new Place("");
    expect(place.accept(turn("m1"), undefined)).not.toBe(null);
    expect(place.accept(turn("m1"), undefined)).toBe(null);
    const messages = [{ id: "m2", role: "user", agentId: null }];
    place.accept({ kind: "snapshot", snapshot: { messages, lastEventSeq: 0 } } as never, "0 - -");
    expect(place.accept(turn("m2"), undefined)).toBe(null);
    place.accept(event(1, "receipt", 1), "1 - -");
    expect(place.accept(turn("m1"), undefined)).not.toBe(null);
  });
});

test("cursors are read as by all clients", () => {
  interface Cursors {
    valid: { text: string; seq: number; streamId: string | null; offset: string | null }[];
  }
  const { valid } = fixture<Cursors>("cursors");
  for (const c of valid) {
    // A client gives a position back in the server's words, so the offset before all others needs no form of its own.
    const offset = c.offset ?? (c.text.includes("0-0") ? "0-0" : "");
    expect(parseCursor(c.text), c.text).toEqual({ seq: c.seq, streamId: c.streamId ?? "", offset });
  }
  expect(valid.length).toBeGreaterThan(3);
  expect(parseCursor("x")).toBe(null);
  expect(parseCursor("- r1:1 -")).toBe(null);
});

test("frames are read as by all clients", () => {
  const { frames } = fixture<{ frames: { value: Frame }[] }>("frames");
  for (const f of frames) expect(frameOf(f.value)).toEqual(f.value);
  const { entries } = fixture<{ entries: { value: unknown }[] }>("entries");
  for (const e of entries) expect(frameOf(e.value)).toEqual({ kind: "thread", event: e.value });
  for (const other of ["3", "null", "[]", '{"kind":"news"}', '{"kind":"thread"}', '{"kind":"stream","item":{}}']) {
    expect(frameOf(JSON.parse(other))).toBe(null);
  }
});

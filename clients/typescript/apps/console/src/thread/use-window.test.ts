import { expect, test } from "vitest";
import { moved, partOf, size } from "./use-window.js";

const ids = Array.from({ length: 1000 }, (_, i) => `m${i}`);

test("the page has the end of the list, also when it grows", () => {
  expect(partOf(ids, null)).toEqual({ start: 1000 - size, end: 1000 });
  expect(partOf([...ids, "new"], null)).toEqual({ start: 1001 - size, end: 1001 });
  expect(partOf(ids.slice(0, 3), null)).toEqual({ start: 0, end: 3 });
});

test("a part stays where it is when messages come before and after it", () => {
  const more = ["a", "b", ...ids, "z"];
  expect(partOf(more, "m10")).toEqual({ start: 12, end: 12 + size });
});

test("it moves over the whole list and back", () => {
  let first: string | null = null;
  const seen = new Set<string>();
  for (let i = 0; i < 50; i++) {
    const part = partOf(ids, first);
    expect(part.end - part.start).toBe(size);
    for (const id of ids.slice(part.start, part.end)) {
      seen.add(id);
    }
    first = moved(ids, part, -80);
  }
  expect(seen.size).toBe(1000);
  expect(partOf(ids, first).start).toBe(0);
  for (let i = 0; i < 50; i++) {
    first = moved(ids, partOf(ids, first), 80);
  }
  expect(first).toBeNull();
});

test("a message that has gone does not leave an empty page", () => {
  expect(partOf(ids, "dropped").end).toBe(1000);
});

import { expect, test, vi } from "vitest";
import { ago, attemptOf, bytes, duration, glance, money, namesOf, short, visible } from "./format.js";
import { linesOf } from "./json.js";

test("a run that has ended is at no attempt", () => {
  const of = (state: string, attempts: number) => attemptOf({ state, attempts });
  expect([of("RUNNING", 3), of("QUEUED", 1), of("FAILED", 3), of("CANCELLED", 1)]).toEqual([
    "attempt 4",
    "attempt 2",
    "3 failed attempts",
    "1 failed attempt",
  ]);
});

test("names of agents, without what is said about them", () => {
  expect(namesOf("main (the default, of all), clerk")).toEqual(["main", "clerk"]);
  expect([namesOf("none"), namesOf(undefined)]).toEqual([[], []]);
});

test("numbers for people", () => {
  expect([0, 999, 1000, 1234, 24576, 1.5e6].map(short)).toEqual(["0", "999", "1k", "1.2k", "24k", "1.5M"]);
  expect([12, 1500, 10_485_760].map(bytes)).toEqual(["12 B", "1.5 kB", "10 MB"]);
  expect([0, 850, 1500, 61_000, 3_660_000, 200_000_000].map(duration)).toEqual([
    "0 ms",
    "850 ms",
    "1.5 s",
    "1 min 1 s",
    "1 h 1 min",
    "2 d 7 h",
  ]);
  expect([money(0), money(1_500_000), money(1234, "EUR"), money(120)]).toEqual([
    "0.00 USD",
    "1.50 USD",
    "0.001234 EUR",
    "0.00012 USD",
  ]);
  expect(ago("2026-01-01T00:00:00Z", Date.parse("2026-01-01T03:00:00Z"))).toBe("3 h");
});

test("a glance is short, and looks at the beginning only", () => {
  expect(glance({ to: "ann", n: [1, null, true] })).toBe('{to: "ann", n: [1, null, true]}');
  let read = 0;
  const counted = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(of, name) {
        read++;
        return Reflect.get(of, name);
      },
    });
  const huge = { list: counted(Array.from({ length: 1e5 }, (_, i) => counted({ i, text: "x".repeat(20) }))) };
  expect(glance(huge).length).toBeLessThan(250);
  expect(read).toBeLessThan(50);

  const written = vi.spyOn(JSON, "stringify");
  expect(glance("x".repeat(1e7)).length).toBeLessThan(150);
  expect(written.mock.calls.map(([text]) => String(text).length)).toEqual([121]);
  written.mockRestore();
});

test("a line that is too long for a page becomes several, and nothing is lost", () => {
  const text = `a\n${"b".repeat(4500)}\nc`;
  const lines = linesOf(text);
  expect(lines.map((line) => line.length)).toEqual([1, 2000, 2000, 500, 1]);
  expect(lines.join("")).toBe(text.replaceAll("\n", ""));
});

test("what nobody can see is written as JSON writes it", () => {
  const hidden = JSON.stringify({ to: "\u202Emoc.knab@nna\u200B", family: "\u{1F468}\u200D\u{1F467}" });
  expect(visible(hidden)).toBe('{"to":"\\u202emoc.knab@nna\\u200b","family":"\u{1F468}\u200D\u{1F467}"}');
  expect(JSON.parse(visible(hidden))).toEqual(JSON.parse(hidden));
  expect(glance({ to: "\u2066x" })).toBe('{to: "\\u2066x"}');
});

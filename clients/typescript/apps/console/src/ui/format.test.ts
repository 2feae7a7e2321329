import { expect, test } from "vitest";
import { ago, bytes, duration, glance, money, short, visible } from "./format.js";
import { linesOf } from "./json.js";

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

test("a glance is short, whatever the value", () => {
  expect(glance({ to: "ann", n: [1, null, true] })).toBe('{to: "ann", n: [1, null, true]}');
  const huge = { list: Array.from({ length: 1e6 }, (_, i) => ({ i, text: "x".repeat(20) })) };
  const text = "x".repeat(1e7);
  // The best of several, as others use the machine too.
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    expect(glance(huge).length).toBeLessThan(250);
    expect(glance(text).length).toBeLessThan(150);
    return performance.now() - began;
  });
  expect(Math.min(...times)).toBeLessThan(20);
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

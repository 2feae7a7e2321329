import { expect, test } from "vitest";
import { diff } from "./diff.js";

const signs = { same: " ", removed: "-", added: "+" };
const drawn = (a: string, b: string) => diff(a, b).map((line) => signs[line.kind] + line.text);

test("only what has changed is marked", () => {
  expect(drawn("{\n a\n b\n}", "{\n a\n c\n}")).toEqual([" {", "  a", "- b", "+ c", " }"]);
  expect(drawn("a", "a")).toEqual([" a"]);
  expect(drawn("a\nb\nc", "b\nc\nd")).toEqual(["-a", " b", " c", "+d"]);
  expect(drawn("", "a")).toEqual(["-", "+a"]);
});

test("both texts can be read from the difference, also of long ones", () => {
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % n;
  };
  for (let round = 0; round < 200; round++) {
    const text = () => Array.from({ length: random(round < 190 ? 12 : 900) }, () => "abc"[random(3)]).join("\n");
    const [a, b] = [text(), text()];
    const lines = diff(a, b);
    expect(
      lines
        .filter((one) => one.kind !== "added")
        .map((one) => one.text)
        .join("\n"),
    ).toBe(a);
    expect(
      lines
        .filter((one) => one.kind !== "removed")
        .map((one) => one.text)
        .join("\n"),
    ).toBe(b);
  }
});

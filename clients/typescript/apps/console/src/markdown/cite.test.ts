import { expect, test } from "vitest";
import { unmarked, withMarks } from "./cite.js";

const at = (...ends: number[]) => ({ type: "source" as const, spans: ends.map((end) => ({ start: 0, end })) });

test("marks stand at the end of their spans", () => {
  expect(withMarks(["Ä🙂 one.", " Two."], [at(7), at(12, 3)])).toEqual(["Ä🙂⸨2⸩ one.⸨1⸩", " Two.⸨2⸩"]);
  expect(withMarks(["One. ", "Two."], [at(5), at(5)])).toEqual(["One.⸨1⸩⸨2⸩ ", "Two."]);
  expect(withMarks(["One."], [{ type: "source" }])).toEqual(["One."]);
  expect(withMarks(["One."], [at(99)])).toEqual(["One."]);
});

test("a fence stays one, and the text has no marks of its own", () => {
  expect(withMarks(["```\nx\n```\nY."], [at(9), at(12)])).toEqual(["```\nx\n```\nY.⸨2⸩"]);
  expect(withMarks(["⸨1⸩ One."], [at(8)])).toEqual(["((1)) One.⸨1⸩"]);
  expect(unmarked("One.⸨1⸩⸨12⸩")).toBe("One.");
});

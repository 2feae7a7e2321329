import { expect, test } from "vitest";
import { highlight } from "./highlight.js";

declare const process: { cpuUsage(before?: object): { readonly user: number } }; // of Node, which runs the tests

const coloured = (code: string, language?: string) =>
  highlight(code, language)
    .filter((piece) => piece.kind !== undefined)
    .map(({ kind, text }) => `${kind} ${text}`);

test.each([
  ["go", 'func main() { x := "a // b" // c', ["word func", "name main", 'string "a // b"', "comment // c"]],
  ["python", "def f(a): # 'x'\n  return 0x1f", ["word def", "name f", "comment # 'x'", "word return", "number 0x1f"]],
  ["sql", "SELECT a FROM t -- it's", ["word SELECT", "word FROM", "comment -- it's"]],
  ["json", '{"a": [1, true, "b"]}', ['name "a"', "number 1", "word true", 'string "b"']],
  ["ts", "const a = `x ${1}`; /* b", ["word const", "string `x ${1}`", "comment /* b"]],
  ["sh", "curl http://a#b $# # c", ["comment # c"]],
])("code of %s has colours", (language, code, wanted) => {
  expect(coloured(code, language)).toEqual(wanted);
});

test("nothing is lost, and an unknown language has no colours", () => {
  const code = "let a = 'it\\'s' + \"b\n\"; // \u202e\n`c";
  for (const language of ["ts", "py title=a.py", "sql", "json", "", "brainfuck"]) {
    expect(
      highlight(code, language)
        .map(({ text }) => text)
        .join(""),
    ).toBe(code);
  }
  expect(coloured(code)).toEqual([]);
  expect(coloured(code, "constructor")).toEqual([]);
});

// What a model writes must not hold the page.
test.each(['"\\', "'", "`\\", "/*", "1.", "#", "--", "a("])("%j over and over is read in its length", (text) => {
  for (const language of ["ts", "py", "sql", "json"]) {
    const before = process.cpuUsage();
    highlight(text.repeat(20_000 / text.length), language);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(300);
  }
});

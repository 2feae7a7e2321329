import { expect, test } from "vitest";
import { nothing, type Parsed, parse } from "./blocks.js";

declare const process: { cpuUsage(before?: object): { readonly user: number } }; // of Node, which runs the tests

const text = `# Heading

A paragraph with *emphasis*
and a second line.

- one
- two

  still two
- three

\`\`\`js
const a = 1;

const b = 2;
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted
> more

Setext
===

1. first

   \`\`\`
   nested
   \`\`\`
2. second

    indented code

<div>
html
</div>

The end.
`;

function tokens(parsed: Parsed): unknown {
  return parsed.blocks.map((block) => block.token);
}

test("a text that grows by any piece has the blocks of the whole text", () => {
  for (const size of [1, 2, 3, 7, 50]) {
    let parsed = nothing;
    for (let end = 0; end <= text.length + size; end += size) {
      const part = text.slice(0, end);
      parsed = parse(part, parsed);
      expect(tokens(parsed), `${size}: ${JSON.stringify(part)}`).toEqual(tokens(parse(part)));
    }
  }
});

test("the blocks before the last one are the same objects", () => {
  const before = parse("one\n\ntwo\n\nthr");
  const after = parse("one\n\ntwo\n\nthree", before);
  expect(after.blocks[0]).toBe(before.blocks[0]);
  expect(after.blocks.at(-1)).not.toBe(before.blocks.at(-1));
  expect(after.blocks.at(-1)?.raw).toBe("three");
});

test("a text that is another one, as after a step that is done again, is parsed anew", () => {
  const before = parse("one\n\ntwo");
  expect(tokens(parse("other", before))).toEqual(tokens(parse("other")));
  expect(tokens(parse("", before))).toEqual([]);
});

// Each of these took a reader of Markdown seconds, or more than a minute, at one of these lengths.
const slow = [
  "_a*",
  "**a_",
  "[a](",
  "*a ",
  "\u00a0*a",
  "`a``b",
  "a`",
  "[](",
  "[a](<b",
  "![a](b",
  "~~a",
  "~a~~",
  "\\",
  "<a ",
  "a@",
];
const blocks = [
  "> ",
  "- [ ] ",
  "- > ",
  "1. - ",
  "  - a\n",
  "* a\n\n  b\n\n",
  "> - a\n",
  "| a | b |\n|---|---|\n",
  "=\n",
  "```\n",
];

test.each([...slow, ...blocks])("the time for %j grows with its length", (piece) => {
  for (const length of [1_500, 3_000, 24_000, 90_000]) {
    const text = piece.repeat(length / piece.length);
    const before = process.cpuUsage();
    const parsed = parse(text);
    expect(process.cpuUsage(before).user / 1000, `milliseconds for ${length}`).toBeLessThan(1_500);
    expect(
      parsed.blocks
        .map((block) => block.raw)
        .join("")
        .trimEnd(),
    ).toBe(text.trimEnd());
  }
});

test("long prose with marks in all its paragraphs is read to its end", () => {
  const text = `${"**Key**: a `value` of *some* [text](https://example.com/a), and more. ".repeat(8)}\n\n`.repeat(200);
  const last = parse(text).blocks.findLast((block) => block.token.type === "paragraph");
  const { tokens = [] } = (last?.token ?? {}) as { tokens?: { type: string }[] };
  expect(tokens.map(({ type }) => type)).toContain("strong");
});

import { expect, test } from "vitest";
import { nothing, type Parsed, parse } from "./blocks.js";

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

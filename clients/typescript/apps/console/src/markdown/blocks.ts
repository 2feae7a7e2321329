// Text in blocks, of which only the last changes while the text grows.
import { Lexer, type Token } from "marked";

/** A block of a text: a paragraph, a list, a piece of code. */
export interface Block {
  /** The text that it is made of. Two blocks with the same text are shown the same. */
  readonly raw: string;
  readonly token: Token;
}

/** A text and its blocks. */
export interface Parsed {
  readonly text: string;
  readonly blocks: readonly Block[];
}

export const nothing: Parsed = { text: "", blocks: [] };

/**
 * Returns the blocks of a text. As far as it is the same as an earlier one, the blocks are the same objects, so
 * the work for a token of a long answer is that of its last block.
 *
 * What a reference such as `[name]` points to is not known to the blocks before it: the text is shown as it is.
 */
export function parse(text: string, earlier: Parsed = nothing): Parsed {
  if (text === earlier.text) {
    return earlier;
  }
  const kept: Block[] = [];
  let from = 0;
  for (const block of earlier.blocks.slice(0, settled(earlier.blocks))) {
    if (!text.startsWith(block.raw, from)) {
      break;
    }
    kept.push(block);
    from += block.raw.length;
  }
  for (const token of lex(text.slice(from))) {
    kept.push({ raw: token.raw, token });
  }
  return { text, blocks: kept };
}

/**
 * How many blocks a longer text leaves as they are: not the last two. The last one may grow, and turn out to belong to the
 * one before it, as "2" after a list does when a full stop follows. Empty lines do not count.
 */
function settled(blocks: readonly Block[]): number {
  let end = blocks.length;
  for (let left = 2; left > 0 && end > 0; end--) {
    if (blocks[end - 1]?.token.type !== "space") {
      left--;
    }
  }
  return end;
}

/** Returns the tokens of a text. One that is nested deeper than the stack of the browser is shown as it is. */
function lex(text: string): Token[] {
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return [{ type: "html", raw: text, text, block: true, pre: false }];
  }
}

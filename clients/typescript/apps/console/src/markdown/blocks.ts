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
  for (const token of new Lexer({ gfm: true }).lex(text.slice(from))) {
    kept.push({ raw: token.raw, token });
  }
  return { text, blocks: kept };
}

/** How many blocks a longer text leaves as they are: not the last one, nor the empty lines after it. */
function settled(blocks: readonly Block[]): number {
  let end = blocks.length;
  while (end > 0 && blocks[end - 1]?.token.type === "space") {
    end--;
  }
  return Math.max(0, end - 1);
}

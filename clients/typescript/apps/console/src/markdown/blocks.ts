// Text in blocks, of which only the last changes while the text grows.
import { Lexer, type Token, Tokenizer, type Tokens } from "marked";

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

/** Returns the tokens of a text. */
function lex(text: string): Token[] {
  try {
    return new BoundedLexer(text.length).lex(text);
  } catch {
    return [{ type: "html", raw: text, text, block: true, pre: false }];
  }
}

/** How deep quotes, lists and emphasis may be nested. What is nested deeper is shown as it is. */
export const deepest = 40;

/** The characters with which a reader of Markdown begins to look for an end. */
const marks = /[*_~`[\]<>\\!@:&]/g;

/**
 * Reads a text in a time that grows with its length: the plain lexer takes seconds for 3 kB of `_a*`. A span of text
 * costs its length times its marks, once for each level of emphasis that it stands in. A span that costs more than what
 * is left is not read. A million takes about 30 ms, and a paragraph of prose costs a hundred for each character.
 */
class BoundedLexer extends Lexer {
  private left: number;
  private depth = 0;

  constructor(length: number) {
    super({ gfm: true, tokenizer: new BoundedTokenizer() });
    this.left = 2_000_000 + 100 * length;
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const cost = src.length * (1 + (src.match(marks)?.length ?? 0));
    if (cost > this.left || this.depth >= deepest) {
      tokens.push({ type: "text", raw: src, text: src, escaped: false });
      return tokens;
    }
    this.left -= cost;
    this.depth++;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.depth--;
    }
  }
}

/** Finds no quotes and lists where they are too deep. */
class BoundedTokenizer extends Tokenizer {
  private depth = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.inside(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    return this.inside(() => super.list(src));
  }

  private inside<T>(read: () => T): T | undefined {
    if (this.depth > deepest) {
      return undefined;
    }
    this.depth++;
    try {
      return read();
    } finally {
      this.depth--;
    }
  }
}

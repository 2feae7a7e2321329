// Markdown of a model. Its text is data: every node is made here, HTML is shown as the text that it is, links lead to web
// and mail addresses alone, and images are links, because a remote image tells its server what it is asked for.
import type { Token, Tokens } from "marked";
import { memo, type ReactNode, useEffect, useReducer, useRef } from "react";
import { type Block, deepest, nothing, type Parsed, parse } from "./blocks.js";
import { unmarked } from "./cite.js";
import { highlight } from "./highlight.js";
import { safeLink } from "./links.js";
import { Cited, marksOf, textWithMarks } from "./sources.js";

/** Shows a text that may grow. Blocks that have not changed are not rendered again. */
export function Markdown({ text }: { text: string }): ReactNode {
  const parsed = useParsed(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
  return (
    <div className="md">
      {parsed.blocks.map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is what stands at its place
        <BlockView key={i} block={block} />
      ))}
    </div>
  );
}

/**
 * Returns the blocks of a text. A block that takes long to read, such as a table of thousands of cells, is not read again
 * with each token: reading takes a fifth of the time at most, so that the page stays usable.
 */
function useParsed(text: string): Parsed {
  const last = useRef({ parsed: nothing, at: 0, took: 0 });
  const [, again] = useReducer((n: number) => n + 1, 0);
  const began = performance.now();
  const { parsed, at, took } = last.current;
  const wait = took < quick ? 0 : at + 4 * took - began;
  const stale = parsed.text !== text;
  useEffect(() => {
    if (!stale || wait <= 0) {
      return undefined;
    }
    const timer = setTimeout(again, wait);
    return () => clearTimeout(timer);
  });
  if (!stale || wait > 0) {
    return parsed;
  }
  const next = parse(text, parsed);
  const now = performance.now();
  last.current = { parsed: next, at: now, took: now - began };
  return next;
}

/** A time that no frame is short of, in milliseconds. */
const quick = 6;

const BlockView = memo(
  ({ block }: { block: Block }) => blockOf(block.token, 0),
  (a, b) => a.block.raw === b.block.raw,
);

function blockOf(token: Token, depth: number): ReactNode {
  if (depth > deepest) {
    return token.raw;
  }
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      // The page has its own headings above.
      const Tag = `h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as "h3";
      return <Tag>{inlines(token, depth)}</Tag>;
    }
    case "paragraph":
      return <p>{inlines(token, depth)}</p>;
    case "text":
      return "tokens" in token && token.tokens
        ? inlines(token, depth)
        : textWithMarks(unescaped((token as Tokens.Text).text));
    case "code":
      return <Code text={unmarked((token as Tokens.Code).text)} lang={(token as Tokens.Code).lang} />;
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, depth)}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} depth={depth} />;
    case "table":
      return <Table table={token as Tokens.Table} depth={depth} />;
    case "hr":
      return <hr />;
    case "html":
      return <p className="raw">{unmarked(token.raw)}</p>;
    default:
      return inlineOf(token, depth);
  }
}

function blocks(tokens: readonly Token[] | undefined, depth: number): ReactNode[] {
  // biome-ignore lint/suspicious/noArrayIndexKey: they never move
  return (tokens ?? []).map((token, i) => <Part key={i} node={blockOf(token, depth + 1)} />);
}

function inlines(token: { tokens?: Token[] | undefined } | Token, depth: number): ReactNode[] {
  const tokens = "tokens" in token ? token.tokens : undefined;
  // biome-ignore lint/suspicious/noArrayIndexKey: they never move
  return (tokens ?? []).map((inner, i) => <Part key={i} node={inlineOf(inner, depth + 1)} />);
}

/** Gives a node a key. */
function Part({ node }: { node: ReactNode }): ReactNode {
  return node;
}

function inlineOf(token: Token, depth: number): ReactNode {
  if (depth > deepest) {
    return token.raw;
  }
  switch (token.type) {
    case "text":
      return "tokens" in token && token.tokens
        ? inlines(token, depth)
        : textWithMarks(unescaped((token as Tokens.Text).text));
    case "escape":
      return (token as Tokens.Escape).text;
    case "strong":
      return <strong>{inlines(token, depth)}</strong>;
    case "em":
      return <em>{inlines(token, depth)}</em>;
    case "del":
      return <del>{inlines(token, depth)}</del>;
    case "codespan":
      return <code>{unmarked((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <>
          <Link href={unmarked((token as Tokens.Link).href)}>
            <Cited value={none}>{inlines(token, depth)}</Cited>
          </Link>
          {marksOf(token.raw)}
        </>
      );
    case "image": {
      const { href, text } = token as Tokens.Image;
      return (
        <>
          <Link href={unmarked(href)}>[image{text ? `: ${unmarked(text)}` : ""}]</Link>
          {marksOf(token.raw)}
        </>
      );
    }
    case "paragraph":
    case "list":
    case "code":
    case "blockquote":
      return blockOf(token, depth);
    default:
      return unmarked(token.raw);
  }
}

/** A link has no marks in it: they are links themselves, and stand behind it. */
const none = [] as const;

/** A link. Its title says where it leads, as its text may claim anything. */
export function Link({ href, children }: { href: string; children: ReactNode }): ReactNode {
  const safe = safeLink(href);
  if (safe === null) {
    return <span className="dead-link">{children}</span>;
  }
  return (
    <a href={safe} title={safe} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function List({ list, depth }: { list: Tokens.List; depth: number }): ReactNode {
  const items = list.items.map((item, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they never move
    <li key={i} className={item.task ? "task" : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="task" />}
      {blocks(
        item.tokens.filter((token) => token.type !== "checkbox"),
        depth,
      )}
    </li>
  ));
  return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }): ReactNode {
  const cell = (one: Tokens.TableCell, i: number, Tag: "th" | "td") => (
    <Tag key={i} data-align={one.align ?? undefined}>
      {inlines(one, depth)}
    </Tag>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className="table" aria-label="table" tabIndex={0}>
      <table>
        <thead>
          <tr>{table.header.map((one, i) => cell(one, i, "th"))}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they never move
            <tr key={i}>{row.map((one, j) => cell(one, j, "td"))}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Code({ text, lang }: { text: string; lang?: string | undefined }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className="code" aria-label={lang ? `code, ${lang}` : "code"} tabIndex={0}>
      <pre>
        {highlight(text, lang).map(({ text, kind }, i) =>
          kind === undefined ? (
            text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what stands at its place
            <span key={i} className={`code-${kind}`}>
              {text}
            </span>
          ),
        )}
      </pre>
    </section>
  );
}

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Replaces the entities that people write. The result is text, and never markup. */
function unescaped(text: string): string {
  return text.includes("&")
    ? text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi, (all, dec, hex, name) => {
        if (name !== undefined) {
          return named[name.toLowerCase()] ?? all;
        }
        const code = dec === undefined ? Number.parseInt(hex, 16) : Number.parseInt(dec, 10);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
      })
    : text;
}

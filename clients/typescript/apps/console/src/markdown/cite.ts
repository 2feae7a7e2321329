// Where the marks of sources stand in a text. They are put into the text before it is read as Markdown, because only the
// text knows the places.
import type { ShownSource } from "@spool/react";

/** A mark in a text: a number between two brackets that hardly any text has. */
export const mark = /\u2e28(\d{1,3})\u2e29/g;

const open = "\u2e28";
const close = "\u2e29";

/** Returns a text without marks. */
export function unmarked(text: string): string {
  return text.includes(open) ? text.replace(mark, "") : text;
}

/**
 * Returns the texts of a message, with a mark at the end of each piece that a source supports. The spans count the
 * code points of all texts joined. A mark does not stand behind blanks, and not in the line of a fence.
 */
export function withMarks(texts: readonly string[], sources: readonly ShownSource[]): string[] {
  const ends = new Map<number, number[]>();
  for (const [i, { spans = [] }] of sources.entries()) {
    for (const { end } of spans) {
      const at = ends.get(end) ?? [];
      at.push(i + 1);
      ends.set(end, at);
    }
  }
  if (ends.size === 0) {
    return [...texts];
  }
  const places = [...ends].sort(([a], [b]) => a - b);
  let passed = 0;
  let next = 0;
  return texts.map((text) => {
    let out = "";
    let from = 0;
    let at = 0; // in UTF-16 units
    for (; next < places.length; next++) {
      const [end, numbers] = places[next] as [number, number[]];
      for (; passed < end && at < text.length; passed++) {
        at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
      }
      if (passed < end) {
        break;
      }
      let to = at;
      while (to > from && /\s/.test(text[to - 1] as string)) {
        to--;
      }
      if (/^[ \t]*(```|~~~)/.test(text.slice(text.lastIndexOf("\n", to - 1) + 1, to))) {
        continue;
      }
      const marks = numbers.map((n) => `${open}${n}${close}`).join("");
      out += plain(text.slice(from, to)) + marks;
      from = to;
    }
    for (; at < text.length; passed++) {
      at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    }
    return out + plain(text.slice(from));
  });
}

/** The text of a model has no marks of its own. */
function plain(text: string): string {
  return text.replaceAll(open, "((").replaceAll(close, "))");
}

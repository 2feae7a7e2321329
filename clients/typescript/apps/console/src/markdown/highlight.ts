// The colours of code. One list of words and three styles of comments do for the languages that models write most: a wrong
// colour does no harm, and a grammar for each language would be larger than the page.

/** A piece of code. Without a kind it has no colour of its own. */
export interface Piece {
  readonly text: string;
  readonly kind?: "comment" | "string" | "number" | "word" | "name";
}

type Style = "slash" | "hash" | "dash" | "none";

const styles = new Map<string, Style>();
for (const [style, names] of [
  ["slash", "c cc cpp h cs go java js javascript jsx kotlin php rust rs scala swift ts tsx typescript css scss proto"],
  ["hash", "bash sh shell zsh console python py ruby rb yaml yml toml ini dockerfile makefile r perl elixir"],
  ["dash", "sql lua haskell"],
  ["none", "json jsonc ndjson"],
] as const) {
  for (const name of names.split(" ")) {
    styles.set(name, style);
  }
}

const words = new Set(
  (
    "abstract and as async await begin bool break by case catch chan class const continue create def default defer delete desc do done " +
    "elif else end enum export extends false fi final finally fn for foreach from fun func function go group having if impl " +
    "implements import in insert int interface into is join lambda let limit map match mod module mut namespace new nil none not null " +
    "on or order package pass private protected public raise range return select self set static string struct super switch " +
    "then this throw trait true try type undefined union update use using val values var void where while with yield"
  ).split(" "),
);

const comments: Record<Style, string> = {
  slash: String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`,
  hash: String.raw`(?<![^\s;])#[^\n]*`,
  dash: String.raw`--[^\n]*`,
  none: "(?!)",
};

/** Each part is read once, from left to right: the time grows with the length. */
const lexers = Object.fromEntries(
  Object.entries(comments).map(([style, comment]) => [
    style,
    new RegExp(
      String.raw`(?<comment>${comment})|(?<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'|${"`(?:[^`\\\\]|\\\\[^])*`?"})|` +
        String.raw`(?<number>(?<![\w$])\d[\w.]*)|(?<word>[A-Za-z_$][\w$]*)`,
      "g",
    ),
  ]),
) as Record<Style, RegExp>;

/** A longer text has no colours: with each token of a model it is read again. */
const most = 20_000;

/** Returns the pieces of a code in a language, such as "go" or "js". Together they are the code. */
export function highlight(code: string, language = ""): Piece[] {
  const style = styles.get(/^[\w+-]*/.exec(language)?.[0].toLowerCase() ?? "");
  if (style === undefined || code.length > most) {
    return [{ text: code }];
  }
  const pieces: Piece[] = [];
  let plain = "";
  let at = 0;
  const put = (text: string, kind: NonNullable<Piece["kind"]>) => {
    if (plain !== "") {
      pieces.push({ text: plain });
      plain = "";
    }
    pieces.push({ text, kind });
  };
  for (const found of code.matchAll(lexers[style])) {
    const [text] = found;
    plain += code.slice(at, found.index);
    at = found.index + text.length;
    const { comment, string, number } = found.groups ?? {};
    if (comment !== undefined) {
      put(text, "comment");
    } else if (string !== undefined) {
      put(text, style === "none" && /^\s*:/.test(code.slice(at, at + 20)) ? "name" : "string");
    } else if (number !== undefined) {
      put(text, "number");
    } else if (words.has(style === "dash" ? text.toLowerCase() : text)) {
      put(text, "word");
    } else if (code[at] === "(") {
      put(text, "name");
    } else {
      plain += text;
    }
  }
  plain += code.slice(at);
  if (plain !== "") {
    pieces.push({ text: plain });
  }
  return pieces;
}

// The sources of a message: a list, and numbered marks in the text. Nothing asks for their addresses but a click.
import type { ShownSource } from "@spool/react";
import { createContext, Fragment, type ReactNode, useContext } from "react";
import { mark } from "./cite.js";
import { safeLink } from "./links.js";

/** The sources that the marks within are about. */
export const Cited = createContext<readonly ShownSource[]>([]);

/** The address of a source, if a click may open it. */
function addressOf({ url }: ShownSource): string | null {
  return url !== undefined && /^https?:/i.test(url) ? safeLink(url) : null;
}

function nameOf(source: ShownSource): string {
  const address = addressOf(source);
  return source.title || (address === null ? "A source without a name" : new URL(address).host);
}

/** A text whose marks lead to their sources. */
export function textWithMarks(text: string): ReactNode {
  const pieces = text.split(mark); // every second one is a number
  return pieces.length === 1
    ? text
    : pieces.map((piece, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what stands at its place
        <Fragment key={i}>{i % 2 === 0 ? piece : <Mark n={Number(piece)} />}</Fragment>
      ));
}

/** The marks of a text, without the text. */
export function marksOf(text: string): ReactNode {
  return [...text.matchAll(mark)].map(([, n], i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a mark is what stands at its place
    <Mark key={i} n={Number(n)} />
  ));
}

function Mark({ n }: { n: number }): ReactNode {
  const source = useContext(Cited)[n - 1];
  if (source === undefined) {
    return null;
  }
  const address = addressOf(source);
  return (
    <sup className="cite">
      {address === null ? (
        <span title={nameOf(source)}>{n}</span>
      ) : (
        <a href={address} title={`${nameOf(source)}: ${address}`} target="_blank" rel="noopener noreferrer">
          {n}
        </a>
      )}
    </sup>
  );
}

/** The list of the sources of a message or of a result. */
export function Sources({
  sources,
  label = "Sources",
}: {
  sources: readonly ShownSource[];
  label?: string;
}): ReactNode {
  if (sources.length === 0) {
    return null;
  }
  return (
    <ol className="sources" aria-label={label}>
      {sources.map((source, i) => {
        const address = addressOf(source);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: its number is its place
          <li key={i}>
            {address === null ? (
              nameOf(source)
            ) : (
              <>
                <a href={address} title={address} target="_blank" rel="noopener noreferrer">
                  {nameOf(source)}
                </a>{" "}
                <span className="faint">{new URL(address).host}</span>
              </>
            )}
          </li>
        );
      })}
    </ol>
  );
}

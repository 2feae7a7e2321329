import type { ReactNode } from "react";
import { diff } from "./diff.js";

/** What has changed between two texts. */
export function DiffView({ before, after }: { before: string; after: string }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className="code diff" aria-label="what has changed" tabIndex={0}>
      {diff(before, after).map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its place
        <div key={i} data-kind={line.kind}>
          <span className="sign" aria-hidden="true">
            {line.kind === "added" ? "+" : line.kind === "removed" ? "−" : " "}
          </span>
          {line.kind !== "same" && <span className="sr">{line.kind}: </span>}
          {line.text}
        </div>
      ))}
    </section>
  );
}

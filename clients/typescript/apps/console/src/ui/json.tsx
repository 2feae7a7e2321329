// A value to read: folded at first, and long ones in parts, so that 10 MB of it do not stop the page.
import { type ReactNode, useMemo, useState } from "react";
import { bytes, count, pretty, visible } from "./format.js";

const step = 200;
const width = 2000;

/** The lines of a text. A line that is too long for a page is cut into several. */
export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    if (line.length <= width) {
      lines.push(line);
      continue;
    }
    for (let at = 0; at < line.length; at += width) {
      lines.push(line.slice(at, at + width));
    }
  }
  return lines;
}

/** A value as JSON, or a text, of which more is shown on request. */
export function Value({ value, label }: { value: unknown; label: string }): ReactNode {
  const text = useMemo(() => pretty(value), [value]);
  const lines = useMemo(() => linesOf(visible(text)), [text]);
  const [shown, setShown] = useState(step);
  const left = lines.length - shown;
  return (
    <div className="value">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className="code" aria-label={label} tabIndex={0}>
        <pre>{lines.slice(0, shown).join("\n")}</pre>
      </section>
      <div className="value-foot">
        {left > 0 && (
          <button type="button" className="quiet" onClick={() => setShown(shown + Math.max(step, shown))}>
            Show more ({count(left)} lines, {bytes(text.length)} in all)
          </button>
        )}
        <Copy text={text} />
      </div>
    </div>
  );
}

/** Copies a text. */
export function Copy({ text, children = "Copy" }: { text: string; children?: string }): ReactNode {
  const [status, setStatus] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setStatus("Copied");
    } catch {
      setStatus("The browser refuses");
    }
    setTimeout(() => setStatus(""), 1500);
  };
  return (
    <button type="button" className="quiet copy" onClick={copy} aria-live="polite">
      {status || children}
    </button>
  );
}

// The commits that somebody who looks back searches for, as a list to jump from.
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { moment } from "../ui/format.js";
import { markWords } from "../words/entry.js";
import type { Facts } from "./facts.js";
import type { Player } from "./player.js";

/** How many are in the page on each side of the present one. */
const near = 50;

export function Events({
  player,
  facts,
  version,
}: {
  player: Player;
  facts: readonly Facts[];
  version: number;
}): ReactNode {
  const marked = useMemo(() => facts.filter((one) => one.marks.length > 0), [facts]);
  const at = marked.findLastIndex((one) => one.version <= version);
  const from = Math.max(0, at - near);
  const shown = marked.slice(from, Math.max(at, 0) + near);
  const box = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one is the present one
  useEffect(() => {
    const list = box.current;
    const item = list?.querySelector<HTMLElement>("[aria-current]");
    if (list && item) {
      list.scrollTop += item.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
    }
  }, [at]);
  if (marked.length === 0) {
    return null;
  }
  return (
    <section>
      <h3>What happened</h3>
      <ol className="events" ref={box} aria-label="Marked commits">
        {shown.map((one) => (
          <li key={one.version}>
            <button
              type="button"
              className="event"
              aria-current={one === marked[at] ? "step" : undefined}
              onClick={() => player.goTo(one.version)}
            >
              <span className="event-line">
                {one.marks.slice(0, 2).map((kind) => (
                  <span key={kind} className="tag" data-kind={kind}>
                    {markWords[kind]}
                  </span>
                ))}
                <time className="num faint" dateTime={one.at}>
                  {moment(one.at)}
                </time>
              </span>
              {one.caption}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

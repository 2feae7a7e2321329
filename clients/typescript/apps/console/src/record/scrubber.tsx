// Moves through the versions of a thread: a slider with marks, and what the present commit did.
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from "react";
import { typing } from "../keys.js";
import { count, moment } from "../ui/format.js";
import { type MarkKind, markKinds, markWords } from "../words/entry.js";
import type { Facts } from "./facts.js";
import type { Player } from "./player.js";

/** How many marks fit beside each other. */
const places = 300;

/** A mark of the slider. Several near each other are one, of the heaviest kind. */
export interface Mark {
  /** From 0 to 1. */
  readonly at: number;
  readonly kind: MarkKind;
}

/** Returns the marks of all versions. */
export function marksOf(facts: readonly Facts[]): Mark[] {
  const found = new Map<number, Mark>();
  const last = Math.max(1, facts.length - 1);
  for (const [i, { marks }] of facts.entries()) {
    const [kind] = marks;
    const place = Math.round((i / last) * places);
    const other = found.get(place);
    if (kind !== undefined && (other === undefined || markKinds.indexOf(kind) < markKinds.indexOf(other.kind))) {
      found.set(place, { at: i / last, kind });
    }
  }
  return [...found.values()];
}

/** Returns the next marked version after one, or before it with `by` -1. Null: there is none. */
export function nextMark(facts: readonly Facts[], version: number, by: 1 | -1): number | null {
  for (let at = version - (facts[0]?.version ?? 0) + by; at >= 0 && at < facts.length; at += by) {
    const one = facts[at];
    if (one !== undefined && one.marks.length > 0) {
      return one.version;
    }
  }
  return null;
}

export function Scrubber({
  player,
  facts,
  version,
  children,
}: {
  player: Player;
  facts: readonly Facts[];
  version: number;
  children?: ReactNode;
}): ReactNode {
  const slider = useRef<HTMLInputElement>(null);
  const marks = useMemo(() => marksOf(facts), [facts]);
  const first = facts[0]?.version ?? 0;
  const last = facts.at(-1)?.version ?? 0;
  const here = facts[version - first];
  const before = nextMark(facts, version, -1);
  const after = nextMark(facts, version, 1);
  useEffect(() => slider.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const way = ways[event.key];
      if (way === undefined || event.target === slider.current || typing(event)) {
        return;
      }
      event.preventDefault();
      move(player, facts, way);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [player, facts]);
  // The slider itself knows the arrows, Page Up and Down, Home and End.
  const onOwnKey = (event: KeyboardEvent) => {
    const way = event.ctrlKey || event.metaKey ? undefined : ways[event.key];
    if (way === "markBefore" || way === "markAfter") {
      event.preventDefault();
      move(player, facts, way);
    } else if (version === last && onward.has(event.key)) {
      player.goTo(last); // to what is newer
    }
  };
  if (here === undefined) {
    return null;
  }
  return (
    <section className="scrubber" aria-label="History">
      <p className="caption">
        {here.marks.map((kind) => (
          <span key={kind} className="tag" data-kind={kind}>
            {markWords[kind]}
          </span>
        ))}
        {here.caption}
      </p>
      <div className="scrub-line">
        <MarkButton to={before} player={player} sign="⟨" name="The mark before" />
        <div className="track-box">
          <svg className="marks" aria-hidden="true">
            {marks.map(({ at, kind }) => (
              <line key={at} x1={`${at * 100}%`} x2={`${at * 100}%`} y1={0} y2="100%" data-kind={kind} />
            ))}
          </svg>
          <input
            ref={slider}
            type="range"
            min={first}
            max={last}
            step={1}
            value={version}
            aria-label="Version of the thread"
            aria-valuetext={`${version} of ${last}, ${moment(here.at)}: ${here.caption}`}
            onChange={(event) => player.goTo(event.target.valueAsNumber)}
            onKeyDown={onOwnKey}
          />
        </div>
        <MarkButton to={after} player={player} sign="⟩" name="The next mark" />
      </div>
      <div className="scrub-foot">
        <span className="num">
          {count(version)} of {count(last)}
        </span>
        <time className="num faint" dateTime={here.at} title={new Date(here.at).toLocaleString()}>
          {moment(here.at)}
        </time>
        {children}
      </div>
    </section>
  );
}

const ways: Readonly<Record<string, "back" | "on" | "markBefore" | "markAfter" | undefined>> = {
  ArrowLeft: "back",
  ArrowRight: "on",
  "[": "markBefore",
  "]": "markAfter",
};

/** The keys that change nothing at the end of a slider. */
const onward: ReadonlySet<string> = new Set(["ArrowRight", "ArrowUp", "PageUp", "End"]);

function move(player: Player, facts: readonly Facts[], way: NonNullable<(typeof ways)[string]>): void {
  const { version } = player;
  if (way === "back" || way === "on") {
    player.goTo(version + (way === "on" ? 1 : -1));
  } else {
    player.goTo(nextMark(facts, version, way === "markAfter" ? 1 : -1) ?? version);
  }
}

function MarkButton({
  to,
  player,
  sign,
  name,
}: {
  to: number | null;
  player: Player;
  sign: string;
  name: string;
}): ReactNode {
  return (
    <button
      type="button"
      className="quiet"
      aria-label={name}
      title={`${name} (${sign === "⟨" ? "[" : "]"})`}
      disabled={to === null}
      onClick={() => to !== null && player.goTo(to)}
    >
      {sign}
    </button>
  );
}

// Keys that work on every screen, unless somebody types.
import { useEffect, useRef } from "react";
import { go, to } from "./route.js";

/** Reports whether keys go to a field. */
export function typing(event: KeyboardEvent): boolean {
  const at = event.target as HTMLElement | null;
  return (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.isComposing ||
    document.querySelector("dialog[open]") !== null ||
    (at !== null && (/^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) || at.isContentEditable))
  );
}

/** The keys of the frame. */
export const frameKeys = [
  ["t", "the threads"],
  ["i", "the inbox"],
  ["o", "operations"],
  ["n", "a new thread"],
  ["/", "search"],
  ["m", "the message field"],
  ["?", "these keys"],
  ["Esc", "leaves a field"],
] as const;

export function useKeys(onHelp: () => void): void {
  const help = useRef(onHelp);
  useEffect(() => {
    help.current = onHelp;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (typing(event)) {
        if (event.key === "Escape" && !event.isComposing && document.querySelector("dialog[open]") === null) {
          (event.target as HTMLElement).blur(); // so that the keys of the screen work again
        }
        return;
      }
      const act = actions[event.key] ?? (event.key === "?" ? () => help.current() : undefined);
      if (act !== undefined) {
        event.preventDefault();
        act();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

const actions: Record<string, (() => void) | undefined> = {
  t: () => go(to.threads),
  i: () => go(to.inbox),
  o: () => go(to.operations),
  n: () => {
    go(to.newThread);
    focus(".composer textarea");
  },
  m: () => focus(".composer textarea"),
  "/": () => focus("#search"),
};

function focus(selector: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus());
}

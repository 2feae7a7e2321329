// Keys that work on every screen, unless somebody types.
import { useEffect, useRef } from "react";
import { go, parseRoute, to } from "./route.js";

/** Reports whether keys go to a field. */
export function typing(event: KeyboardEvent): boolean {
  const at = event.target;
  return (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.isComposing ||
    document.querySelector("dialog[open]") !== null ||
    (at instanceof HTMLElement && (at.matches('input:not([type="range"]), textarea, select') || at.isContentEditable))
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
  ["h", "the history of the thread, and back"],
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
    setTimeout(() => focus(".composer textarea")); // the screen is another one then
  },
  m: () => focus(".composer textarea"),
  h: () => {
    const route = parseRoute(window.location.hash);
    if (route.screen === "threads" && route.threadId !== null) {
      go(route.record === undefined ? to.record(route.threadId) : to.thread(route.threadId));
    }
  },
  "/": () => focus("#search"),
};

/** The next key goes to the field already. */
function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

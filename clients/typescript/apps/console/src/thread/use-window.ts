// Which messages of a long thread are in the page: a part that moves with the scroll position, so that the page does not
// grow with the thread.
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

/** How many messages are in the page at most, and how many come with each move. */
export const size = 200;
const step = 80;

/** How near to an end of the page the next messages come, in pixels. */
const near = 800;

/** A part of a list. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** Returns the part that begins with an item. Null: the last part, also when the list grows. */
export function partOf(ids: readonly string[], first: string | null): Part {
  const found = first === null ? -1 : ids.indexOf(first);
  const start = found < 0 ? Math.max(0, ids.length - size) : found;
  return { start, end: Math.min(ids.length, start + size) };
}

/** Returns the item with which the part begins that is `by` items further. Null: the last part. */
export function moved(ids: readonly string[], part: Part, by: number): string | null {
  const start = Math.max(0, part.start + by);
  return start + size >= ids.length ? null : (ids[start] ?? null);
}

/** What a list that scrolls shows. */
export interface Window extends Part {
  /** Nothing of the list is after the part, so the end of the page is that of the list. */
  readonly atEnd: boolean;
  /** Goes to the end. */
  toEnd(): void;
}

/** A message that stays where it is while the part moves. */
interface Anchor {
  readonly id: string;
  readonly top: number;
  /** The part moves when older messages have been read. */
  readonly reads: boolean;
}

/** Moves a part of the list with the scroll position of a box. Its items have their id as `data-id`. */
export function useWindow(
  ids: readonly string[],
  box: RefObject<HTMLElement | null>,
  loadOlder: (() => void) | null,
): Window {
  const [first, setFirst] = useState<string | null>(null);
  const part = partOf(ids, first);
  const atEnd = part.end === ids.length;
  const anchor = useRef<Anchor | null>(null);
  const latest = useRef({ ids, part, loadOlder });
  useLayoutEffect(() => {
    latest.current = { ids, part, loadOlder };
  });

  /** Notes the first message that can be seen, so that it stays where it is. */
  const hold = useCallback(
    (reads = false) => {
      const outer = box.current;
      const top = outer?.getBoundingClientRect().top ?? 0;
      for (const element of outer?.querySelectorAll<HTMLElement>("[data-id]") ?? []) {
        const at = element.getBoundingClientRect();
        if (at.bottom > top) {
          anchor.current = { id: element.dataset.id ?? "", top: at.top, reads };
          return;
        }
      }
    },
    [box],
  );

  /** Moves the part, or reads older messages, if the scroll position is near an end of the page. */
  const follow = useCallback(() => {
    const outer = box.current;
    if (outer === null || anchor.current !== null) {
      return;
    }
    const { ids, part, loadOlder } = latest.current;
    const below = outer.scrollHeight - outer.scrollTop - outer.clientHeight;
    if (outer.scrollTop < near && part.start > 0) {
      hold();
      setFirst(moved(ids, part, -step));
    } else if (outer.scrollTop < near && loadOlder !== null && ids.length > 0) {
      hold(true);
      setFirst(ids[0] ?? null);
      loadOlder();
    } else if (below < near && part.end < ids.length) {
      hold();
      setFirst(moved(ids, part, step));
    }
  }, [box, hold]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the page has other messages now
  useLayoutEffect(() => {
    const outer = box.current;
    const held = anchor.current;
    if (outer === null || held === null) {
      return;
    }
    anchor.current = null;
    const element = outer.querySelector<HTMLElement>(`[data-id="${CSS.escape(held.id)}"]`);
    if (element !== null) {
      outer.scrollTop += element.getBoundingClientRect().top - held.top;
    }
    follow(); // a box that is at its very top scrolls no further, so no event would bring the next messages
  }, [part.start, part.end, ids[part.start]]);

  const reading = loadOlder === null;
  useLayoutEffect(() => {
    if (!reading && anchor.current?.reads === true) {
      anchor.current = null; // nothing came, and nothing moves
    }
  }, [reading]);

  useLayoutEffect(() => {
    const outer = box.current;
    outer?.addEventListener("scroll", follow, { passive: true });
    return () => outer?.removeEventListener("scroll", follow);
  }, [box, follow]);

  const toEnd = useCallback(() => {
    anchor.current = null;
    setFirst(null);
  }, []);
  return { ...part, atEnd, toEnd };
}

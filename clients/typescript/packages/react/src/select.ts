"use client";

// A part of a state, and a render only when that part changes.
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";

/** Something that has a state and tells of its changes. */
export interface Source<S> {
  getSnapshot(): S;
  subscribe(listener: () => void): () => void;
}

/** The first state of each source: a page that a server has rendered begins with it, whatever has arrived since. */
const firsts = new WeakMap<object, unknown>();

/** Notes the state with which the pages of a source begin, and returns the source. */
export function begin<T extends Source<unknown>>(source: T): T {
  if (!firsts.has(source)) {
    firsts.set(source, source.getSnapshot());
  }
  return source;
}

/**
 * Returns what a selector makes of the state, and renders again when that is not equal to what it was. The selector may
 * be another function on each render.
 */
export function useSelected<S, T>(
  source: Source<S>,
  selector: (state: S) => T,
  equal: (a: T, b: T) => boolean = Object.is,
): T {
  const shown = useRef<{ value: T } | null>(null);
  const [read, readFirst] = useMemo(() => {
    let memo: { state: S; value: T } | null = null;
    const select = (state: S): T => {
      if (memo !== null && Object.is(memo.state, state)) {
        return memo.value;
      }
      const earlier = memo ?? shown.current;
      const next = selector(state);
      memo = { state, value: earlier !== null && equal(earlier.value, next) ? earlier.value : next };
      return memo.value;
    };
    const first = firsts.has(source) ? (firsts.get(source) as S) : source.getSnapshot();
    return [() => select(source.getSnapshot()), () => select(first)] as const;
  }, [source, selector, equal]);
  const value = useSyncExternalStore(source.subscribe, read, readFirst);
  useEffect(() => {
    shown.current = { value };
  }, [value]);
  return value;
}

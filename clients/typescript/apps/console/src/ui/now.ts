// The time, which passes.
import { createContext, useContext, useSyncExternalStore } from "react";

/** The moment at which something is shown, in milliseconds. Null: now. */
export const AsOf = createContext<number | null>(null);

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const tell of listeners) {
      tell();
    }
  }, 1000);
  return () => {
    listeners.delete(changed);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The time in milliseconds, each second anew. `every` seconds, if less often is enough. In the past, it stands still. */
export function useNow(every = 1): number {
  const asOf = useContext(AsOf);
  const step = every * 1000;
  return useSyncExternalStore(asOf === null ? subscribe : never, () =>
    asOf !== null ? asOf : every === 1 ? now : Math.floor(now / step) * step,
  );
}

const never = () => () => {};

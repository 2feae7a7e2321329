// Something that is read again and again while it is shown.
import { useCallback, useEffect, useRef, useState } from "react";

/** What was read last. */
export interface Polled<T> {
  readonly value: T | null;
  readonly error: unknown;
  /** Reads it now. */
  refresh(): void;
}

/** Reads something now, every `ms` while the page is visible, and when `key` changes. A failure keeps the last value. */
export function usePoll<T>(key: string, ms: number, read: (signal: AbortSignal) => Promise<T>): Polled<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: unknown }>({
    key,
    value: null,
    error: null,
  });
  const [asked, setAsked] = useState(0);
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a refresh begins anew
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") {
        try {
          const value = await latest.current(stop.signal);
          if (!stop.signal.aborted) {
            setState({ key, value, error: null });
          }
        } catch (error) {
          if (!stop.signal.aborted) {
            setState((now) => ({ key, value: now.key === key ? now.value : null, error }));
          }
        }
      }
      if (!stop.signal.aborted) {
        timer = setTimeout(once, ms);
      }
    };
    const shown = () => document.visibilityState === "visible" && void once();
    document.addEventListener("visibilitychange", shown);
    void once();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [key, ms, asked]);
  const refresh = useCallback(() => setAsked((now) => now + 1), []);
  return { value: state.key === key ? state.value : null, error: state.error, refresh };
}

import type { Backoff } from "./options.js";

/** Bounds the wait that a server can ask for, so that a wrong number does not stop a follower for ever. */
const maxAskedMs = 600_000;

/** The wait after so many failures in a row, from 1. It is never below what the server asked for. */
export function backoffWait(backoff: Backoff | undefined, failures: number, askedMs: number): number {
  const min = backoff?.minMs ?? 500;
  const max = Math.max(min, backoff?.maxMs ?? 30_000);
  return spread(Math.max(Math.min(max, min * 2 ** Math.min(failures - 1, 30)), Math.min(askedMs, maxAskedMs)));
}

/** The wait before a new connection after one that has worked. */
export function reconnectWait(backoff: Backoff | undefined, askedMs: number): number {
  return spread(Math.min(askedMs || (backoff?.minMs ?? 500), maxAskedMs));
}

/** Extends a wait by up to a half, so that clients do not come back all at once. */
const spread = (ms: number) => ms * (1 + Math.random() / 2);

/** Waits, and returns false if a signal ends first. */
export function pause(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (whole: boolean) => {
      clearTimeout(timer);
      for (const s of signals) s?.removeEventListener("abort", stop);
      resolve(whole);
    };
    const stop = () => end(false);
    const timer = setTimeout(() => end(true), ms);
    for (const s of signals) {
      if (s?.aborted) return stop();
      s?.addEventListener("abort", stop);
    }
  });
}

// The file that was opened last. It never leaves the page.
import { useSyncExternalStore } from "react";

let kept: File | null = null;
const listeners = new Set<() => void>();

export function keepFile(file: File): void {
  kept = file;
  for (const changed of listeners) {
    changed();
  }
}

export function useFile(): File | null {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => kept,
  );
}

// Light or dark: as the system says, unless the person has chosen.
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const key = "spool:theme";
const listeners = new Set<() => void>();
let theme = read();
apply();

function read(): Theme {
  try {
    const kept = localStorage.getItem(key);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

function apply(): void {
  if (theme === "system") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = theme;
  }
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(key, next);
  } catch {
    // It lasts until the page is left.
  }
  apply();
  for (const changed of listeners) {
    changed();
  }
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => theme,
  );
}

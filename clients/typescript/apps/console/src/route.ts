// Which screen is shown. It is the part of the address behind "#", so the server needs to know one page only.
import { useSyncExternalStore } from "react";

/** A screen, and what it is about. */
export type Route =
  | { screen: "threads"; threadId: string | null; fresh: boolean; record?: Position }
  | { screen: "inbox" }
  | { screen: "operations"; part: Part; name: string | null }
  | { screen: "file" };

/** The parts of the screen of operators. */
const parts = ["overview", "runs", "jobs", "schedules", "webhooks"] as const;

export type Part = (typeof parts)[number];

/** Where somebody looks back: a version of the thread, or its last one. */
export interface Position {
  readonly version: number | null;
}

/** Returns the screen of an address. Unknown ones are the list of threads. */
export function parseRoute(hash: string): Route {
  const [screen, part, ...rest] = hash.replace(/^#\/?/, "").split("/").map(decoded);
  switch (screen) {
    case "inbox":
      return { screen: "inbox" };
    case "file":
      return { screen: "file" };
    case "operations":
      return {
        screen: "operations",
        part: parts.find((one) => one === part) ?? "overview",
        name: rest[0] || null,
      };
    default: {
      const threadId = screen === "threads" && part ? part : null;
      const version = /^\d{1,15}$/.test(rest[1] ?? "") ? Number(rest[1]) : null;
      const record = threadId !== null && rest[0] === "record" ? { record: { version } } : {};
      return { screen: "threads", threadId, fresh: screen === "new", ...record };
    }
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

/** The addresses of the screens. */
export const to = {
  threads: "#/",
  newThread: "#/new",
  thread: (id: string) => `#/threads/${encodeURIComponent(id)}`,
  record: (id: string, version?: number) =>
    `#/threads/${encodeURIComponent(id)}/record${version === undefined ? "" : `/${version}`}`,
  inbox: "#/inbox",
  operations: "#/operations",
  runs: "#/operations/runs",
  run: (id: string) => `#/operations/runs/${encodeURIComponent(id)}`,
  jobs: "#/operations/jobs",
  schedules: "#/operations/schedules",
  schedule: (name: string) => `#/operations/schedules/${encodeURIComponent(name)}`,
  webhooks: "#/operations/webhooks",
  webhook: (name: string) => `#/operations/webhooks/${encodeURIComponent(name)}`,
  file: "#/file",
};

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

/** Shows another screen. `replace` leaves no step back. */
export function go(hash: string, replace = false): void {
  if (replace) {
    window.history.replaceState(null, "", hash);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    window.location.hash = hash;
  }
}

/** The address of the screen, which changes with it. */
export function useHash(): string {
  return useSyncExternalStore(subscribe, () => window.location.hash);
}

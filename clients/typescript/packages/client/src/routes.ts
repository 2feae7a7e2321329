import type { Routes } from "./options.js";

/** Where the operations are. */
export const defaultRoutes: Routes = {
  run: "/api/agent/run",
  stop: "/api/agent/control",
  respond: "/api/agent/respond",
  history: "/api/agent/history",
  record: "/api/agent/record",
  fork: "/api/agent/fork",
  stream: "/api/agent/stream",
  usage: "/api/agent/usage",
  threads: "/api/threads",
  deleteThread: "/api/threads",
  branches: "/api/agent/branches",
  branchMessages: "/api/agent/branches/messages",
  restoreBranch: "/api/agent/branches/restore",
  events: "/api/agent/events",
  compact: "/api/agent/compact",
  outcome: "/api/agent/runs/:runId",
  streamToken: "/api/agent/stream-token",
  artifacts: "/api/agent/artifacts",
  artifact: "/api/agent/artifacts/:artifactId",
  artifactUrl: "/api/agent/artifacts/:artifactId/url",
  inbox: "/api/agent/inbox",
  inboxAnswers: "/api/agent/inbox/answers",
  inboxLinks: "/api/agent/inbox/links",
};

/** Parameters of a URL. One that is undefined, null or "" is left out; a list is repeated. */
export type Params = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** Returns the URL with the parameters behind it, in their order. */
export function withQuery(url: string, params: Params): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((v) => v !== undefined && v !== null && v !== "")
      .map((v) => `${encodeURIComponent(name)}=${encodeURIComponent(String(v))}`),
  );
  if (pairs.length === 0) return url;
  return `${url}${url.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}

/** Whether a URL needs no base. */
export const isAbsolute = (url: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(url);

/** Returns a path below the base, which may be a path of the page's origin itself. Without a page, a path stays as it is. */
export function below(baseUrl: string | undefined, path: string): string {
  if (isAbsolute(path)) return path;
  const whole = baseUrl ? `${baseUrl.replace(/\/+$/, "")}${path.startsWith("/") ? "" : "/"}${path}` : path;
  if (typeof location === "undefined" || isAbsolute(whole) || (baseUrl && !baseUrl.startsWith("/"))) return whole;
  return new URL(whole, location.href).href;
}

/** Returns the URL of an operation. A name behind a colon in the path is replaced by its parameter. */
export function routeUrl(routes: Routes, baseUrl: string | undefined, name: keyof Routes, params: Params): string {
  const route = routes[name];
  if (typeof route === "function") {
    const given = Object.entries(params).filter(([, v]) => v !== undefined && v !== null && v !== "");
    return below(baseUrl, route(Object.fromEntries(given.map(([k, v]) => [k, String(v)]))));
  }
  const query = { ...params };
  const path = route.replace(/\/:(\w+)/g, (whole, param: string) => {
    const value = query[param];
    if (value === undefined) return whole;
    delete query[param];
    return `/${encodeURIComponent(String(value))}`;
  });
  return withQuery(below(baseUrl, path), query);
}

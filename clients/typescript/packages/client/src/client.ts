import { asError, errorOf, refusalOf, SpoolError } from "./error.js";
import { follow } from "./follow.js";
import { createHttp, type Request } from "./http.js";
import type { ClientOptions, InboxResult, Routes } from "./options.js";
import type { Params } from "./routes.js";
import type { Client } from "./types.js";
import type { Branch, DeleteResult, RespondResult, RunResult, StopResult } from "./wire.js";

/**
 * Returns a client of one server. It sends nothing yet, and needs no closing.
 *
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:8080" });
 * ```
 */
export function createClient(options: ClientOptions = {}): Client {
  const http = createHttp(options);
  type Name = keyof Routes;
  type Signal = AbortSignal | undefined;
  const get = <T>(name: Name, params: Params, signal: Signal) => http.json<T>(http.url(name, params), { signal });
  const post = <T>(name: Name, body: unknown, signal: Signal, more: Request = {}, params: Params = {}) =>
    http.json<T>(http.url(name, params), { method: "POST", body, signal, ...more });
  const refusals = [409];
  /** Returns a signed URL, which may begin with the path. */
  const signed = async (name: Name, body: unknown, signal: Signal, params: Params = {}) => {
    const made = await post<{ url: string; expiresAt: string }>(name, body, signal, {}, params);
    return { ...made, url: new URL(made.url, http.url(name, params)).href };
  };

  return {
    baseUrl: options.baseUrl ?? "",
    async run(request, { idempotencyKey, signal } = {}) {
      const key = options.noIdempotencyKey ? undefined : idempotencyKey;
      const repeat: Request = key === undefined ? {} : { repeatable: true, headers: { "Idempotency-Key": key } };
      const result = await post<RunResult>("run", request, signal, { refusals: [409, 503], ...repeat });
      return { ...result, accepted: result?.accepted === true };
    },
    stop: async (threadId, { runId, signal } = {}) =>
      normal("accepted", await post<StopResult>("stop", { threadId, ...(runId && { runId }) }, signal, { refusals })),
    respond: async (threadId, answer, { signal } = {}) =>
      normal("delivered", await post<RespondResult>("respond", { threadId, ...answer }, signal, { refusals })),
    history: (threadId, { limit, before, lastMessageId, signal } = {}) =>
      get("history", { threadId, lastMessageId, limit, before }, signal),
    usage: (threadId, { signal } = {}) => get("usage", { threadId }, signal),
    threads: ({ title, labels, signal, ...filter } = {}) => {
      const label = Object.entries(labels ?? {}).map(([key, value]) => `${key}:${value}`);
      return get("threads", { ...filter, q: title, label }, signal);
    },
    updateThread: (threadId, change, { signal } = {}) =>
      post("threads", { threadId, ...change }, signal, { method: "PATCH" }),
    async deleteThread(threadId, { signal } = {}) {
      try {
        const gone = await post<DeleteResult>(
          "deleteThread",
          undefined,
          signal,
          { method: "DELETE", refusals },
          { threadId },
        );
        return normal("accepted", gone);
      } catch (thrown) {
        if (thrown instanceof SpoolError && thrown.status === 404) return { accepted: true };
        throw thrown;
      }
    },
    branches: async (threadId, { signal } = {}) =>
      (await get<{ branches?: Branch[] }>("branches", { threadId }, signal)).branches ?? [],
    branchMessages: (threadId, branchId, { limit, before, signal } = {}) =>
      get("branchMessages", { threadId, branchId, limit, before }, signal),
    restoreBranch: (threadId, branchId, { signal } = {}) =>
      post("restoreBranch", { threadId, branchId }, signal, { refusals }),
    events: (threadId, { after, limit, signal } = {}) => get("events", { threadId, after, limit }, signal),
    publish: (threadId, event, { signal } = {}) => post("events", { threadId, ...event }, signal),
    compact: (threadId, { signal } = {}) => post("compact", { threadId }, signal, { refusals }),
    outcome: (runId, { wait, signal } = {}) => get("outcome", { runId, wait }, signal),
    streamToken: (threadId, { signal } = {}) => post("streamToken", { threadId }, signal),
    upload: (threadId, data, { name, mediaType, signal } = {}) => {
      const own = typeof Blob !== "undefined" && data instanceof Blob ? data.type : "";
      const headers = { "Content-Type": mediaType || own || "application/octet-stream" };
      // The same data with the same name are the same artifact, so an upload may arrive twice.
      return post("artifacts", data, signal, { repeatable: true, headers }, { threadId, name });
    },
    async artifact(threadId, artifactId, { signal } = {}) {
      const headers = { Accept: "*/*" };
      const response = await http.send(http.url("artifact", { artifactId, threadId }), { signal, headers });
      try {
        if (response.ok) return await response.blob();
        throw errorOf(response, await response.text());
      } catch (thrown) {
        throw asError(thrown, signal); // the body may break off
      }
    },
    artifactUrl: (threadId, artifactId, { expiresIn, signal } = {}) =>
      signed("artifactUrl", {}, signal, { artifactId, threadId, expiresIn }),
    inbox: ({ signal, ...filter } = {}) => get("inbox", { ...filter }, signal),
    answerInbox: async (answers, { signal } = {}) =>
      (await post<{ results: InboxResult[] }>("inboxAnswers", { answers }, signal)).results,
    inboxLink: (request, { signal } = {}) => signed("inboxLinks", request, signal),
    follow: (threadId, given = {}) => follow(http, threadId, given),
    request: (method, path, body, { signal } = {}) => http.json(http.below(path), { method, body, signal }),
  };
}

/** Returns a result whose field is true only for a success. A host may answer `ok` in its place. */
function normal<T extends object>(field: keyof T, result: T): T {
  if (typeof result?.[field] === "boolean") return result;
  if ((result as { ok?: unknown })?.ok === true) return { ...result, [field]: true };
  throw refusalOf(result ?? {}, "the answer is not that of an agent server");
}

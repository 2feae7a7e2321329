import { errorOf, refusalOf, SpoolError } from "./error.js";
import { follow } from "./follow.js";
import { createHttp } from "./http.js";
import type { ClientOptions, InboxResult } from "./options.js";
import type { Client } from "./types.js";
import type { Branch, DeleteResult, RespondResult, StopResult } from "./wire.js";

/**
 * Returns a client of one server. It sends nothing yet, and needs no closing.
 *
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:8080" });
 * ```
 */
export function createClient(options: ClientOptions = {}): Client {
  const http = createHttp(options);
  const post = <T>(url: string, body: unknown, signal?: AbortSignal, refusals: readonly number[] = [409]) =>
    http.json<T>(url, { method: "POST", body, signal, refusals });

  /** Returns a signed URL, which may begin with the path. */
  const signed = async (url: string, body: unknown, signal?: AbortSignal) => {
    const made = await post<{ url: string; expiresAt: string }>(url, body, signal, []);
    return { ...made, url: new URL(made.url, url).href };
  };

  return {
    baseUrl: options.baseUrl ?? "",
    async run(request, { idempotencyKey, signal } = {}) {
      const key = options.noIdempotencyKey ? undefined : idempotencyKey;
      const result = await http.json<Awaited<ReturnType<Client["run"]>>>(http.url("run"), {
        method: "POST",
        body: request,
        signal,
        refusals: [409, 503],
        repeatable: key !== undefined,
        headers: key === undefined ? {} : { "Idempotency-Key": key },
      });
      return { ...result, accepted: result?.accepted === true };
    },
    stop: async (threadId, { runId, signal } = {}) =>
      normal<StopResult>("accepted", await post(http.url("stop"), { threadId, ...(runId && { runId }) }, signal)),
    respond: async (threadId, answer, { signal } = {}) =>
      normal<RespondResult>("delivered", await post(http.url("respond"), { threadId, ...answer }, signal)),
    history: (threadId, { limit, before, lastMessageId, signal } = {}) =>
      http.json(http.url("history", { threadId, lastMessageId, limit, before }), { signal }),
    usage: (threadId, { signal } = {}) => http.json(http.url("usage", { threadId }), { signal }),
    threads: ({ title, labels, signal, ...filter } = {}) => {
      const label = Object.entries(labels ?? {}).map(([key, value]) => `${key}:${value}`);
      return http.json(http.url("threads", { ...filter, q: title, label }), { signal });
    },
    updateThread: (threadId, change, { signal } = {}) =>
      http.json(http.url("threads"), { method: "PATCH", body: { threadId, ...change }, signal }),
    async deleteThread(threadId, { signal } = {}) {
      try {
        return normal<DeleteResult>(
          "accepted",
          await http.json(http.url("deleteThread", { threadId }), { method: "DELETE", signal, refusals: [409] }),
        );
      } catch (thrown) {
        if (thrown instanceof SpoolError && thrown.status === 404) return { accepted: true };
        throw thrown;
      }
    },
    branches: async (threadId, { signal } = {}) =>
      (await http.json<{ branches?: Branch[] }>(http.url("branches", { threadId }), { signal })).branches ?? [],
    branchMessages: (threadId, branchId, { limit, before, signal } = {}) =>
      http.json(http.url("branchMessages", { threadId, branchId, limit, before }), { signal }),
    restoreBranch: (threadId, branchId, { signal } = {}) =>
      post(http.url("restoreBranch"), { threadId, branchId }, signal),
    events: (threadId, { after, limit, signal } = {}) =>
      http.json(http.url("events", { threadId, after, limit }), { signal }),
    publish: (threadId, event, { signal } = {}) => post(http.url("events"), { threadId, ...event }, signal, []),
    compact: (threadId, { signal } = {}) => post(http.url("compact"), { threadId }, signal),
    outcome: (runId, { wait, signal } = {}) => http.json(http.url("outcome", { runId, wait }), { signal }),
    streamToken: (threadId, { signal } = {}) => post(http.url("streamToken"), { threadId }, signal, []),
    upload: (threadId, data, { name, mediaType, signal } = {}) => {
      const own = typeof Blob !== "undefined" && data instanceof Blob ? data.type : "";
      const type = mediaType || own || "application/octet-stream";
      // The same data with the same name are the same artifact, so an upload may arrive twice.
      const request = { method: "POST", body: data, signal, repeatable: true, headers: { "Content-Type": type } };
      return http.json(http.url("artifacts", { threadId, name }), request);
    },
    async artifact(threadId, artifactId, { signal } = {}) {
      const response = await http.send(http.url("artifact", { artifactId, threadId }), {
        signal,
        headers: { Accept: "*/*" },
      });
      if (!response.ok) throw errorOf(response, await response.text());
      return response.blob();
    },
    artifactUrl: (threadId, artifactId, { expiresIn, signal } = {}) =>
      signed(http.url("artifactUrl", { artifactId, threadId, expiresIn }), {}, signal),
    inbox: ({ signal, ...filter } = {}) => http.json(http.url("inbox", { ...filter }), { signal }),
    answerInbox: async (answers, { signal } = {}) =>
      (await post<{ results: InboxResult[] }>(http.url("inboxAnswers"), { answers }, signal, [])).results,
    inboxLink: (request, { signal } = {}) => signed(http.url("inboxLinks"), request, signal),
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

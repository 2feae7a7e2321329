import { asError, errorOf, refusalOf, SpoolError } from "./error.js";
import { follow } from "./follow.js";
import { createHttp, type Request } from "./http.js";
import type { ClientOptions, InboxResult, Routes } from "./options.js";
import type { Params } from "./routes.js";
import type { Client } from "./types.js";
import type { Branch, DeleteResult, ForkResult, QuestionLink, RespondResult, RunResult, StopResult } from "./wire.js";

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
  type Options = { signal?: AbortSignal | undefined } | undefined;
  const get = <T>(name: Name, params: Params, options: Options) =>
    http.json<T>(http.url(name, params), { signal: options?.signal });
  const post = <T>(name: Name, body: unknown, options: Options, more: Request = {}, params: Params = {}) =>
    http.json<T>(http.url(name, params), { method: "POST", body, signal: options?.signal, ...more });
  const refusals = [409];
  /** Returns a signed URL, which may begin with the path. */
  const signed = async <T extends { url: string }>(
    name: Name,
    body: unknown,
    options: Options,
    params: Params = {},
  ) => {
    const made = await post<T>(name, body, options, {}, params);
    return { ...made, url: new URL(made.url, http.url(name, params)).href };
  };

  const broken = (options: Options) => (thrown: unknown) => {
    throw asError(thrown, options?.signal); // the body may break off
  };
  /** Returns an answer that is no JSON. */
  const raw = async (name: Name, params: Params, options: Options) => {
    const headers = { Accept: "*/*" };
    const response = await http.send(http.url(name, params), { signal: options?.signal, headers });
    if (response.ok) return response;
    throw errorOf(response, await response.text().catch(broken(options)));
  };

  return {
    baseUrl: options.baseUrl ?? "",
    async run(request, given) {
      const key = options.noIdempotencyKey ? undefined : given?.idempotencyKey;
      const repeat: Request = key === undefined ? {} : { repeatable: true, headers: { "Idempotency-Key": key } };
      const { fields, ...known } = request;
      const result = await post<RunResult>("run", { ...fields, ...known }, given, { refusals: [409, 503], ...repeat });
      return { ...result, accepted: result?.accepted === true };
    },
    stop: async (threadId, given) =>
      normal(
        "accepted",
        await post<StopResult>("stop", { threadId, ...(given?.runId && { runId: given.runId }) }, given, { refusals }),
      ),
    respond: async (threadId, answer, given) =>
      normal("delivered", await post<RespondResult>("respond", { threadId, ...answer }, given, { refusals })),
    history: (threadId, { limit, before, lastMessageId, ...given } = {}) =>
      get("history", { threadId, lastMessageId, limit, before }, given),
    snapshotAt: (threadId, { signal, ...at }) => get("history", { threadId, ...at }, { signal }),
    record: (threadId, given) => raw("record", { threadId }, given),
    fork: async (threadId, { signal, ...from }) =>
      normal("accepted", await post<ForkResult>("fork", { threadId, ...from }, { signal }, { refusals })),
    usage: (threadId, given) => get("usage", { threadId }, given),
    threads: ({ title, labels, signal, ...filter } = {}) => {
      const label = Object.entries(labels ?? {}).map(([key, value]) => `${key}:${value}`);
      return get("threads", { ...filter, q: title, label }, { signal });
    },
    updateThread: (threadId, change, given) => post("threads", { threadId, ...change }, given, { method: "PATCH" }),
    async deleteThread(threadId, given) {
      try {
        const gone = await post<DeleteResult>(
          "deleteThread",
          undefined,
          given,
          { method: "DELETE", refusals },
          { threadId },
        );
        return normal("accepted", gone);
      } catch (thrown) {
        if (thrown instanceof SpoolError && thrown.status === 404) return { accepted: true };
        throw thrown;
      }
    },
    branches: async (threadId, given) =>
      (await get<{ branches?: Branch[] }>("branches", { threadId }, given)).branches ?? [],
    branchMessages: (threadId, branchId, { limit, before, ...given } = {}) =>
      get("branchMessages", { threadId, branchId, limit, before }, given),
    restoreBranch: (threadId, branchId, given) => post("restoreBranch", { threadId, branchId }, given, { refusals }),
    events: (threadId, { after, limit, ...given } = {}) => get("events", { threadId, after, limit }, given),
    publish: (threadId, event, given) => post("events", { threadId, ...event }, given),
    compact: (threadId, given) => post("compact", { threadId }, given, { refusals }),
    outcome: (runId, given) => get("outcome", { runId, wait: given?.wait }, given),
    streamToken: (threadId, given) => post("streamToken", { threadId }, given),
    upload: (threadId, data, { name, mediaType, ...given } = {}) => {
      const own = typeof Blob !== "undefined" && data instanceof Blob ? data.type : "";
      const headers = { "Content-Type": mediaType || own || "application/octet-stream" };
      // The same data with the same name are the same artifact, so an upload may arrive twice.
      return post("artifacts", data, given, { repeatable: true, headers }, { threadId, name });
    },
    artifact: async (threadId, artifactId, given) =>
      (await raw("artifact", { artifactId, threadId }, given)).blob().catch(broken(given)),
    artifactUrl: (threadId, artifactId, given) =>
      signed("artifactUrl", {}, given, { artifactId, threadId, expiresIn: given?.expiresIn }),
    inbox: ({ signal, ...filter } = {}) => get("inbox", { ...filter }, { signal }),
    answerInbox: async (answers, given) =>
      (await post<{ results: InboxResult[] }>("inboxAnswers", { answers }, given)).results,
    inboxLink: (request, given) => signed("inboxLinks", request, given),
    inboxLinks: async ({ limit, after, ...given } = {}) =>
      (await get<{ links: QuestionLink[] }>("inboxLinks", { limit, after }, given)).links,
    revokeInboxLink: (linkId, given) => post("inboxLinks", undefined, given, { method: "DELETE" }, { linkId }),
    follow: (threadId, given = {}) => follow(http, threadId, given),
    request: (method, path, body, given) => http.json(http.below(path), { method, body, signal: given?.signal }),
  };
}

/** Returns a result whose field is true only for a success. A host may answer `ok` in its place. */
function normal<T extends object>(field: keyof T, result: T): T {
  if (typeof result?.[field] === "boolean") return result;
  if ((result as { ok?: unknown })?.ok === true) return { ...result, [field]: true };
  throw refusalOf(result ?? {}, "the answer is not that of an agent server");
}

// Requests with the client's credentials, retries and errors.
import { backoffWait, pause } from "./backoff.js";
import { asError, errorOf, passing, SpoolError } from "./error.js";
import type { ClientOptions } from "./options.js";
import { below, defaultRoutes, isAbsolute, type Params, routeUrl } from "./routes.js";

/** One request. */
export interface Request {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** It may safely arrive twice. Defaults to true for GET. */
  repeatable?: boolean;
  /** The statuses besides 2xx whose body is the result. */
  refusals?: readonly number[];
}

/** Sends requests. */
export interface Http {
  url(name: keyof typeof defaultRoutes, params?: Params): string;
  below(path: string): string;
  /** Returns the answer, whatever its status. A 401 is repeated once with new credentials. */
  send(url: string, request: Request & { cache?: RequestCache }): Promise<Response>;
  /** Returns the result of an operation. */
  json<T>(url: string, request?: Request): Promise<T>;
  readonly options: ClientOptions;
  /** Whether other credentials may come after a 401. */
  readonly renewable: boolean;
}

/** Returns what sends requests with the options. */
export function createHttp(options: ClientOptions): Http {
  const routes = { ...defaultRoutes, ...options.routes };
  const renewable = typeof options.token === "function" || typeof options.headers === "function";

  const credentials = async (): Promise<Record<string, string>> => {
    try {
      const headers = typeof options.headers === "function" ? await options.headers() : options.headers;
      const token = typeof options.token === "function" ? await options.token() : options.token;
      return { ...(token && { Authorization: `Bearer ${token}` }), ...headers };
    } catch (thrown) {
      throw asError(thrown, undefined, "the token or the headers could not be had");
    }
  };

  const send: Http["send"] = async (url, { method = "GET", body, headers, signal, cache }) => {
    const raw = isRaw(body);
    const data = body === undefined ? undefined : raw ? (body as BodyInit) : encoded(body);
    const attempt = (given: Record<string, string>) => {
      const init = {
        method,
        body: data,
        signal,
        cache,
        credentials: options.credentials,
        headers: {
          Accept: "application/json",
          ...(body !== undefined && !raw && { "Content-Type": "application/json" }),
          ...headers,
          ...given,
        },
      };
      return (options.fetch ?? globalThis.fetch)(url, init as RequestInit); // what is undefined is not there
    };
    if (!isAbsolute(url)) {
      const message = "baseUrl must be a whole URL, or a path where there is a page";
      throw new SpoolError("invalid", message, { field: "baseUrl" });
    }
    try {
      const given = await credentials();
      const response = await attempt(given);
      if (response.status !== 401 || !renewable) return response;
      const renewed = await credentials().catch(() => given); // the 401 says more
      if (JSON.stringify(renewed) === JSON.stringify(given)) return response;
      await response.body?.cancel().catch(() => {});
      return await attempt(renewed);
    } catch (thrown) {
      throw asError(thrown, signal);
    }
  };

  const once = async <T>(url: string, request: Request): Promise<T> => {
    const response = await send(url, request);
    const text = await response.text().catch((thrown) => {
      throw asError(thrown, request.signal);
    });
    if (!response.ok) {
      const error = errorOf(response, text);
      error.refused = request.refusals?.includes(response.status) === true && isResult(error.result);
      throw error;
    }
    try {
      return (text === "" ? undefined : JSON.parse(text)) as T;
    } catch (cause) {
      throw new SpoolError("internal", "the answer is not that of an agent server", { status: response.status, cause });
    }
  };

  const json: Http["json"] = async <T>(url: string, request: Request = {}): Promise<T> => {
    const repeatable = request.repeatable ?? (request.method ?? "GET") === "GET";
    for (let failures = 1; ; failures++) {
      try {
        return await once<T>(url, request);
      } catch (thrown) {
        const error = asError(thrown, request.signal);
        const askedMs = error.retryAfterMs ?? 0;
        // Somebody waits for the answer: a long wait is the caller's.
        const soon = askedMs <= (options.backoff?.maxMs ?? 30_000);
        const again = repeatable && soon && passing(error) && failures <= (options.retries ?? 3);
        if (again && (await pause(backoffWait(options.backoff, failures, askedMs), request.signal))) continue;
        if (request.signal?.aborted) throw new SpoolError("canceled", "Canceled", { cause: thrown });
        if (!error.refused) throw error;
        const { retryAfterMs } = error;
        return { ...(error.result as object), ...(retryAfterMs !== undefined && { retryAfterMs }) } as T;
      }
    }
  };

  return {
    url: (name, params = {}) => routeUrl(routes, options.baseUrl, name, params),
    below: (path) => below(options.baseUrl, path),
    send,
    json,
    options,
    renewable,
  };
}

function encoded(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (thrown) {
    throw asError(thrown, undefined, "the request cannot be written as JSON", "invalid");
  }
}

function isResult(body: unknown): boolean {
  const result = body as Record<string, unknown> | undefined;
  return ["accepted", "delivered", "compacted"].some((field) => typeof result?.[field] === "boolean");
}

function isRaw(body: unknown): boolean {
  if (typeof body === "string" || body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return true;
  return typeof Blob !== "undefined" && body instanceof Blob;
}

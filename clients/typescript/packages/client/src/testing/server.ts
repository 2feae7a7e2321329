// A server in memory, which does what a test says.
import type { Snapshot } from "../wire.js";
import { type OpenStreamConnection, ScriptedThread } from "./thread.js";

/** A request that has arrived. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The body, decoded if it is JSON. */
  readonly body: unknown;
}

/** An answer. `network`: there is none, because the connection failed. */
export type ScriptedAnswer = { status?: number; body?: unknown; headers?: Record<string, string> } | "network";

/** Answers a request. Undefined: as the server does otherwise. */
export type Handler = (request: ScriptedRequest) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

/** A server without a network. Give its `fetch` to `createClient`. */
export interface ScriptedServer {
  readonly fetch: typeof globalThis.fetch;
  /** The requests so far. */
  readonly requests: readonly ScriptedRequest[];
  /** The thread, which begins empty. */
  thread(id: string): ScriptedThread;
  /**
   * Answers requests of a route, such as `"POST /api/agent/run"`, from now on. With `times`, only the next ones.
   */
  answer(route: string, answer: ScriptedAnswer | Handler, times?: number): void;
  /** The requests of a route so far. */
  sent(route: string): readonly ScriptedRequest[];
}

/** Returns a server that accepts everything, until a test says otherwise. */
export function scriptedServer(): ScriptedServer {
  const threads = new Map<string, ScriptedThread>();
  const requests: ScriptedRequest[] = [];
  const handlers: { route: string; handler: Handler; left: number }[] = [];
  let runs = 0;

  const thread = (id: string): ScriptedThread => {
    const known = threads.get(id) ?? new ScriptedThread(id);
    threads.set(id, known);
    return known;
  };

  const notFound: ScriptedAnswer = { status: 404, body: { error: "Thread not found", code: "not_found" } };

  const standard = (request: ScriptedRequest): ScriptedAnswer => {
    const body = (request.body ?? {}) as Record<string, unknown>;
    const threadId = request.query.get("threadId") ?? String(body.threadId ?? "");
    switch (`${request.method} ${request.path}`) {
      case "POST /api/agent/run": {
        const runId = String(body.runId ?? `r${++runs}`);
        return { status: 202, body: { accepted: true, threadId: threadId || `t${runs}`, runId, state: "QUEUED" } };
      }
      case "POST /api/agent/control":
        return { body: { accepted: true } };
      case "POST /api/agent/respond":
        return { body: { delivered: true } };
      case "POST /api/agent/branches/restore":
        return { body: { accepted: true, branchId: body.branchId } };
      case "GET /api/agent/history":
        return historyOf(thread(threadId).snapshot, request.query) ?? notFound;
      case "GET /api/agent/branches":
        return { body: { branches: [] } };
      case "GET /api/threads":
        return { body: { threads: [...threads.values()].flatMap((t) => t.snapshot?.thread ?? []) } };
      case "DELETE /api/threads":
        return { body: { accepted: true } };
      default:
        return { status: 404, body: { error: "no such route", code: "not_found" } };
    }
  };

  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const url = new URL(String(input));
    const headers = new Headers(init.headers);
    const signal = init.signal ?? undefined;
    signal?.throwIfAborted();
    const json = headers.get("Content-Type") === "application/json" && typeof init.body === "string";
    const body = json ? JSON.parse(init.body as string) : init.body;
    const method = init.method ?? "GET";
    const request = { method, path: url.pathname, query: url.searchParams, headers, body };
    requests.push(request);
    const answer = await answerTo(request);
    signal?.throwIfAborted();
    if (answer === "network") throw new TypeError("fetch failed");
    if (answer) {
      const text = answer.body === undefined ? "" : JSON.stringify(answer.body);
      const given = { "Content-Type": "application/json", ...answer.headers };
      return new Response(text, { status: answer.status ?? 200, headers: given });
    }
    return stream(thread(url.searchParams.get("threadId") ?? ""), url, signal);
  };

  const answerTo = async (request: ScriptedRequest): Promise<ScriptedAnswer | null> => {
    const route = `${request.method} ${request.path}`;
    for (const known of handlers.filter((h) => h.route === route && h.left > 0)) {
      const answer = await known.handler(request);
      if (!answer) continue;
      known.left--;
      return answer;
    }
    if (route !== "GET /api/agent/stream") return standard(request);
    return thread(request.query.get("threadId") ?? "").exists ? null : notFound;
  };

  return {
    fetch,
    requests,
    thread,
    answer(route, answer, times = Number.POSITIVE_INFINITY) {
      handlers.unshift({ route, left: times, handler: typeof answer === "function" ? answer : () => answer });
    },
    sent: (route) => requests.filter((r) => `${r.method} ${r.path}` === route),
  };
}

/** Opens a stream of a thread. */
function stream(thread: ScriptedThread, url: URL, signal: AbortSignal | undefined): Response {
  const encoder = new TextEncoder();
  let open: OpenStreamConnection;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const over = (end: () => void) => () => {
        thread.closed(open);
        signal?.removeEventListener("abort", abort);
        end();
      };
      open = {
        write: (text) => controller.enqueue(encoder.encode(text)),
        end: over(() => controller.close()),
        cut: over(() => controller.error(new TypeError("network error"))),
      };
      const abort = over(() => controller.error(signal?.reason));
      signal?.addEventListener("abort", abort);
      thread.open(url.searchParams.get("cursor") ?? "", open);
    },
    cancel: () => thread.closed(open),
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
}

/** Answers a history, with the part of the messages that is asked for. */
function historyOf(snapshot: Snapshot | null, query: URLSearchParams): ScriptedAnswer | null {
  if (!snapshot) return null;
  const before = query.get("before");
  const limit = Number(query.get("limit") ?? 0);
  const to = before === null ? -1 : snapshot.messages.findIndex((m) => m.id === before);
  const older = to < 0 ? snapshot.messages : snapshot.messages.slice(0, to);
  return { body: { ...snapshot, messages: limit > 0 ? older.slice(-limit) : older } };
}

// The openers of event streams: with fetch, and with EventSource.
import { asError, errorOf, SpoolError } from "./error.js";
import type { Http } from "./http.js";
import type { OpenStream } from "./options.js";
import { withQuery } from "./routes.js";
import { type SseHandlers, sseReader } from "./sse.js";

/** Opens streams with fetch, which sends the client's headers, and sees comments. */
export function fetchStream(http: Http): OpenStream {
  return (url, handlers) => {
    const controller = new AbortController();
    let closed = false;
    const read = async () => {
      const headers = { Accept: "text/event-stream" };
      const response = await http.send(url, { headers, signal: controller.signal, cache: "no-store" });
      if (!response.ok) throw errorOf(response, await response.text());
      if (!/^text\/event-stream\b/i.test(response.headers.get("Content-Type") ?? "") || !response.body) {
        void response.body?.cancel().catch(() => {});
        throw new SpoolError("invalid", "the answer is not an event stream of an agent server", {
          status: response.status,
        });
      }
      if (closed) return;
      handlers.onOpen();
      let waits: Promise<void> | undefined;
      const handle: SseHandlers = {
        onEvent: ({ id, name, data }) => {
          if (closed) return;
          if (name === "" || name === "message") waits = handlers.onMessage(data, id || undefined) ?? waits;
          else if (name === "keepalive") handlers.onAlive(true);
        },
        onComment: () => handlers.onAlive(true),
        onRetry: (ms) => handlers.onRetry(ms),
      };
      const feed = sseReader(handle, http.options.maxEventSize);
      const reader = response.body
        .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
        .getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || closed) return;
        handlers.onAlive();
        feed(value);
        if (waits) await waits; // a slow reader is a slow connection
        waits = undefined;
      }
    };
    read().then(
      () => !closed && handlers.onClose(),
      (thrown) => !closed && handlers.onError(asError(thrown)),
    );
    return {
      close() {
        closed = true;
        controller.abort();
      },
    };
  };
}

/** Options of {@link eventSourceStream}. */
export interface EventSourceOptions {
  /** Returns a token that opens the stream of a thread, because an `EventSource` sends no headers. */
  token?: (threadId: string) => Promise<string>;
  /** Whether cookies are sent to another origin. Defaults to false. */
  withCredentials?: boolean;
  /** Defaults to the global one. */
  EventSource?: typeof globalThis.EventSource;
}

/**
 * Opens streams with the browser's `EventSource`, for a page whose developers want to see events in its tools, or a
 * runtime whose `fetch` does not stream.
 *
 * ```ts
 * const client = createClient({
 *   openStream: eventSourceStream({ token: async (id) => (await client.streamToken(id)).token }),
 * });
 * ```
 */
export function eventSourceStream(options: EventSourceOptions = {}): OpenStream {
  return (url, handlers) => {
    let source: EventSource | undefined;
    let closed = false;
    const end = (error: unknown) => {
      if (closed) return;
      closed = true;
      source?.close();
      handlers.onError(error);
    };
    const open = async () => {
      const threadId = new URL(url).searchParams.get("threadId") ?? "";
      const token = await options.token?.(threadId);
      if (closed) return;
      const Source = options.EventSource ?? globalThis.EventSource;
      source = new Source(withQuery(url, { token, keepalive: "event" }), {
        withCredentials: options.withCredentials ?? false,
      });
      source.onopen = () => handlers.onOpen();
      source.onmessage = (e) => {
        handlers.onAlive();
        void handlers.onMessage(String(e.data), e.lastEventId || undefined);
      };
      source.addEventListener("keepalive", () => handlers.onAlive(true));
      // The follower connects anew, with its own waits, cursor and a new token.
      source.onerror = () => end(new SpoolError("unavailable", "the connection was lost"));
    };
    open().catch(end);
    return {
      close() {
        closed = true;
        source?.close();
      },
    };
  };
}

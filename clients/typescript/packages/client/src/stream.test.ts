import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "./client.js";
import { eventSourceStream } from "./stream.js";
import type { Frame } from "./wire.js";

/** An EventSource that a test drives. */
class FakeSource extends EventTarget {
  static all: FakeSource[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((e: { data: string; lastEventId: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;

  constructor(
    readonly url: string,
    readonly init: { withCredentials: boolean },
  ) {
    super();
    FakeSource.all.push(this);
  }

  close(): void {
    this.closed = true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeSource.all = [];
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an EventSource", () => {
  test("opens streams with a token, and each new connection with a new one", async () => {
    let tokens = 0;
    const openStream = eventSourceStream({
      token: async (threadId) => `${threadId}-${++tokens}`,
      withCredentials: true,
      EventSource: FakeSource as never,
    });
    const stop = new AbortController();
    const frames: Frame[] = [];
    const statuses: string[] = [];
    const follow = createClient({ baseUrl: "http://spool.test", openStream }).follow("t1", {
      signal: stop.signal,
      onStatus: (s) => statuses.push(s),
    });
    void (async () => {
      for await (const f of follow) frames.push(f);
    })();
    await vi.advanceTimersByTimeAsync(0);
    const [first] = FakeSource.all;
    expect(first?.url).toBe("http://spool.test/api/agent/stream?threadId=t1&token=t1-1&keepalive=event");
    expect(first?.init.withCredentials).toBe(true);
    first?.onopen?.();
    const event = { threadId: "t1", seq: 5, type: "receipt", payload: 1, createdAt: "" };
    first?.onmessage?.({ data: JSON.stringify({ kind: "thread", event }), lastEventId: "5 - -" });
    for (let i = 0; i < 10; i++) {
      await vi.advanceTimersByTimeAsync(15_000);
      first?.dispatchEvent(new Event("keepalive"));
    }
    expect(frames).toMatchObject([{ kind: "thread", cursor: "5 - -" }]);
    expect(FakeSource.all.length).toBe(1);
    first?.onerror?.();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(first?.closed).toBe(true);
    expect(FakeSource.all[1]?.url).toContain("cursor=5%20-%20-&token=t1-2");
    expect(statuses).toEqual(["connecting", "open", "reconnecting", "reconnecting"]);
    stop.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(FakeSource.all[1]?.closed).toBe(true);
  });
});

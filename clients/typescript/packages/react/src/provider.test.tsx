// @vitest-environment jsdom
import { createClient } from "@spool/client";
import { type ScriptedServer, scriptedServer, snapshotOf } from "@spool/client/testing";
import { act, cleanup, render, waitFor } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { browserPersistence, SpoolProvider, type SpoolProviderProps, SpoolThread } from "./index.js";
import { useInterrupts } from "./use-interrupts.js";
import { useMessage, useMessages } from "./use-messages.js";
import { type Thread, useThread } from "./use-thread.js";
import { useActivity, useConnection } from "./use-thread-state.js";
import { useUsage } from "./use-usage.js";

let server: ScriptedServer;

beforeEach(() => {
  server = scriptedServer();
});
afterEach(() => {
  cleanup();
  window.localStorage.clear();
  window.history.replaceState(null, "", "/");
});

const Message = ({ id }: { id: string }) => <p>{useMessage(id)?.text}</p>;
const Chat = () => useMessages().map((id) => <Message key={id} id={id} />);

/** Shows what is below a provider, on the scripted server. */
function Page({ children, ...props }: SpoolProviderProps & { children?: ReactNode }) {
  return (
    <SpoolProvider
      baseUrl="http://spool.test"
      fetch={server.fetch}
      schedule={(run) => void queueMicrotask(run)}
      {...props}
    >
      {children ?? <Chat />}
    </SpoolProvider>
  );
}

const streams = () => server.sent("GET /api/agent/stream");
const histories = () => server.sent("GET /api/agent/history");

/** A thread with one turn and its answer. */
function hello(id = "t") {
  const snapshot = snapshotOf(id, {
    state: "COMPLETED",
    lastEventSeq: 2,
    messages: [
      { id: "m1", threadId: id, role: "user", content: "Hello", createdAt: "2026-11-28T08:00:00Z", agentId: null },
      { id: "m2", threadId: id, role: "assistant", content: "Hi!", createdAt: "2026-11-28T08:00:01Z", agentId: null },
    ],
  });
  server.thread(id).snapshot = snapshot;
  return snapshot;
}

test("StrictMode opens one connection, and the last component that leaves closes it", async () => {
  hello();
  const seen = new Set<string>();
  const Connection = () => {
    seen.add(useConnection().connection);
    return <Chat />;
  };
  const { container, unmount } = render(
    <StrictMode>
      <Page threadId="t">
        <Connection />
      </Page>
    </StrictMode>,
  );
  await waitFor(() => expect(container.textContent).toBe("HelloHi!"));
  await waitFor(() => expect(server.thread("t").connections).toBe(1));
  expect(streams()).toHaveLength(1);
  expect(histories()).toHaveLength(1);
  expect([...seen]).toEqual(["connecting", "open"]); // the second round of effects has closed nothing
  unmount();
  await waitFor(() => expect(server.thread("t").connections).toBe(0));
});

test("what a server has rendered is taken over, and goes on", async () => {
  const snapshot = hello();
  const page = (
    <StrictMode>
      <Page threadId="t" initialSnapshot={snapshot} />
    </StrictMode>
  );
  const html = renderToString(page);
  expect(html).toContain("Hi!");
  expect(server.requests).toEqual([]);

  const root = document.body.appendChild(document.createElement("div"));
  root.innerHTML = html;
  const complaints = vi.spyOn(console, "error");
  const hydrated = await act(async () => hydrateRoot(root, page));
  expect(root.textContent).toBe("HelloHi!");
  await waitFor(() => expect(server.thread("t").connections).toBe(1));
  expect(streams()[0]?.query.get("cursor")).toMatch(/^2/);
  await act(async () => server.thread("t").turn("m3", "More"));
  await waitFor(() => expect(root.textContent).toBe("HelloHi!More"));
  expect(complaints).not.toHaveBeenCalled();
  await act(async () => hydrated.unmount());
  root.remove();
});

test("the thread is kept in the URL and in localStorage", async () => {
  hello();
  window.history.replaceState(null, "", "/?a=1&threadId=t");
  const { container } = render(<Page />);
  await waitFor(() => expect(container.textContent).toBe("HelloHi!"));
  expect(window.localStorage.getItem("spool:last-thread")).toBe("t");
  cleanup();

  window.history.replaceState(null, "", "/?a=1");
  const again = render(<Page />);
  await waitFor(() => expect(again.container.textContent).toBe("HelloHi!"));
  expect(window.location.search).toBe("?a=1&threadId=t");
  expect(histories().every((request) => request.query.get("threadId") === "t")).toBe(true);
});

test("a first turn creates the thread, and the page keeps its id", async () => {
  server.thread("t1").snapshot = snapshotOf("t1", { state: "QUEUED" });
  let thread: Thread | undefined;
  const seen: (string | null)[] = [];
  const Send = () => {
    thread = useThread();
    return <Chat />;
  };
  const { container } = render(
    <Page onThread={(id) => seen.push(id)}>
      <Send />
    </Page>,
  );
  const sending = thread?.send("Hello");
  await waitFor(() => expect(container.textContent).toBe("Hello"));
  expect(await sending).toMatchObject({ ok: true, threadId: "t1" });
  await waitFor(() => expect(thread?.threadId).toBe("t1"));
  expect(window.location.search).toBe("?threadId=t1");
  expect(seen).toEqual(["t1"]);
});

test("persistence: false leaves the page alone, and one of your own is asked", async () => {
  hello();
  const own = { read: vi.fn(() => "t"), write: vi.fn() };
  const { container } = render(<Page persistence={own} />);
  await waitFor(() => expect(container.textContent).toBe("HelloHi!"));
  expect(own.write).toHaveBeenCalledWith("t");
  cleanup();
  window.history.replaceState(null, "", "/?threadId=t");
  const { container: none } = render(<Page persistence={false} />);
  await act(async () => undefined);
  expect(none.textContent).toBe("");
  expect(browserPersistence({ param: "thread", key: null }).read()).toBeNull();
});

test("another threadId shows another thread", async () => {
  hello("t");
  hello("u");
  const { rerender } = render(<Page threadId="t" />);
  await waitFor(() => expect(server.thread("t").connections).toBe(1));
  rerender(<Page threadId="u" />);
  await waitFor(() => expect(server.thread("u").connections).toBe(1));
  await waitFor(() => expect(server.thread("t").connections).toBe(0));
});

test("a SpoolThread has a thread of its own, and so has useThread with an id", async () => {
  hello("t");
  hello("u");
  hello("v");
  const Other = () => {
    const { threadId, store } = useThread("v");
    return (
      <>
        {threadId}: {useMessages({ thread: store }).join()}
      </>
    );
  };
  const { container } = render(
    <Page threadId="t">
      <Chat />
      <SpoolThread threadId="u">
        <b>
          <Chat />
        </b>
      </SpoolThread>
      <i>
        <Other />
      </i>
    </Page>,
  );
  await waitFor(() => expect(container.querySelector("b")?.textContent).toBe("HelloHi!"));
  await waitFor(() => expect(container.querySelector("i")?.textContent).toBe("v: m1,m2"));
  await waitFor(() => expect(["t", "u", "v"].map((id) => server.thread(id).connections)).toEqual([1, 1, 1]));
});

test("a question is answered with its digest, and the activity says what is going on", async () => {
  server.thread("t").snapshot = snapshotOf("t", { state: "QUEUED" });
  let asked: ReturnType<typeof useInterrupts> = [];
  const phases: string[] = [];
  const Asked = () => {
    asked = useInterrupts();
    const { label } = useActivity();
    if (phases.at(-1) !== label) {
      phases.push(label);
    }
    return null;
  };
  render(
    <Page threadId="t" labels={{ thinking: "Hm…" }}>
      <Asked />
    </Page>,
  );
  await waitFor(() => expect(server.thread("t").connections).toBe(1));
  await act(async () => server.thread("t").start());
  await act(async () => server.thread("t").text("I "));
  await act(async () => server.thread("t").step().park("c1"));
  await waitFor(() => expect(asked).toHaveLength(1));
  await act(() => asked[0]?.approve({ reason: "fine" }) as Promise<unknown>);
  expect(server.sent("POST /api/agent/respond")[0]?.body).toMatchObject({
    threadId: "t",
    toolCallId: "c1",
    approved: true,
    reason: "fine",
    digest: "sha256:c1",
  });
  expect(phases).toEqual(["Loading", "Queued", "Hm…", "Responding", "Hm…", "Waiting for an answer: send"]);
});

test("tokens and headers are those of the newest render", async () => {
  hello();
  const { rerender } = render(<Page threadId="t" token="one" headers={{ "X-Tenant": "a" }} />);
  await waitFor(() => expect(server.thread("t").connections).toBe(1));
  expect(histories()[0]?.headers.get("Authorization")).toBe("Bearer one");
  rerender(<Page threadId="t" token={() => "two"} headers={() => ({ "X-Tenant": "b" })} />);
  await act(async () => server.thread("t").cut());
  await waitFor(() => expect(streams().length).toBeGreaterThan(1), { timeout: 4000 });
  const last = streams().at(-1)?.headers;
  expect([last?.get("Authorization"), last?.get("X-Tenant")]).toEqual(["Bearer two", "b"]);
});

test("the usage is read after each run", async () => {
  hello();
  server.answer("GET /api/agent/usage", { body: { tokens: { totalTokens: 7 } } });
  const Used = () => <b>{useUsage()?.tokens.totalTokens}</b>;
  const { container } = render(
    <Page threadId="t">
      <Used />
    </Page>,
  );
  await waitFor(() => expect(container.textContent).toBe("7"));
  expect(server.sent("GET /api/agent/usage")).toHaveLength(1);
  await act(async () => server.thread("t").start("r9"));
  await act(async () => server.thread("t").finish());
  await waitFor(() => expect(server.sent("GET /api/agent/usage")).toHaveLength(2));
});

test("a client of one's own is used", async () => {
  hello();
  const client = createClient({ baseUrl: "http://spool.test", fetch: server.fetch });
  const { container } = render(
    <Page client={client} threadId="t" fetch={() => Promise.reject(new Error("not this one"))} />,
  );
  await waitFor(() => expect(container.textContent).toBe("HelloHi!"));
});

test("a hook without a provider says so", () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect(() => render(<Chat />)).toThrow("below a SpoolProvider");
});

// @vitest-environment jsdom
import { type ScriptedServer, scriptedServer, snapshotOf } from "@spool/client/testing";
import { act, cleanup, render, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SpoolProvider } from "./provider.js";
import { type Thread, useThread } from "./use-thread.js";
import { type ThreadList, type ThreadListOptions, useThreads } from "./use-threads.js";

let server: ScriptedServer;
let ids: string[];
let list: ThreadList;

beforeEach(() => {
  ids = ["a", "b", "c", "d", "e"];
  server = scriptedServer();
  server.answer("GET /api/threads", ({ query }) => {
    const limit = Number(query.get("limit") ?? 50);
    const from = query.get("before") === null ? 0 : ids.indexOf(query.get("before") ?? "") + 1;
    const page = ids.slice(from, from + limit);
    const more = from + limit < ids.length;
    return {
      body: { threads: page.map((id) => ({ id, title: id, state: "IDLE" })), ...(more && { next: page.at(-1) }) },
    };
  });
});
afterEach(cleanup);

function List(options: ThreadListOptions) {
  list = useThreads(options);
  return list.threads.map(({ id }) => id).join("");
}

const page = (options: ThreadListOptions) => (
  <SpoolProvider baseUrl="http://spool.test" fetch={server.fetch} persistence={false}>
    <List {...options} />
  </SpoolProvider>
);

test("pages are added, and a refresh reads as far as they go", async () => {
  const { container } = render(page({ limit: 2 }));
  expect(list.loading).toBe(true);
  await waitFor(() => expect(container.textContent).toBe("ab"));
  expect(list.hasMore).toBe(true);
  await act(() => list.loadMore());
  expect(container.textContent).toBe("abcd");
  ids.unshift("new");
  await act(() => list.refresh());
  expect(container.textContent).toBe("newabc");
  await act(() => list.loadMore());
  await act(() => list.loadMore());
  expect(container.textContent).toBe("newabcde");
  expect(list.hasMore).toBe(false);
});

test("a deleted thread leaves at once, and comes back if it could not be deleted", async () => {
  const { container } = render(page({}));
  await waitFor(() => expect(container.textContent).toBe("abcde"));
  await act(async () => {
    expect(await list.remove("b")).toBe(true);
  });
  expect(container.textContent).toBe("acde");
  server.answer("DELETE /api/threads", { status: 403, body: { error: "not yours", code: "forbidden" } });
  await act(async () => {
    expect(await list.remove("c")).toBe(false);
  });
  expect(container.textContent).toBe("acde");
  expect(list.error?.code).toBe("forbidden");
});

test("another filter is another list, and an error does not empty it", async () => {
  const { container, rerender } = render(page({ title: "x" }));
  await waitFor(() => expect(container.textContent).toBe("abcde"));
  rerender(page({ title: "y", limit: 1 }));
  await waitFor(() => expect(server.sent("GET /api/threads").at(-1)?.query.get("q")).toBe("y"));
  await waitFor(() => expect(list.loading).toBe(false));
  server.answer("GET /api/threads", { status: 403, body: { error: "no", code: "forbidden" } });
  const shown = container.textContent;
  await act(() => list.refresh());
  expect(list.error?.code).toBe("forbidden");
  expect(container.textContent).toBe(shown);
});

test("the page's own threads are in the list at once: new, changed and deleted", async () => {
  let thread!: Thread;
  function Chat() {
    thread = useThread();
    return null;
  }
  const { container } = render(
    <SpoolProvider baseUrl="http://spool.test" fetch={server.fetch} persistence={false} threadsRefreshMs={false}>
      <Chat />
      <List />
    </SpoolProvider>,
  );
  await waitFor(() => expect(container.textContent).toBe("abcde"));
  const reads = () => server.sent("GET /api/threads").length;
  expect(reads()).toBe(1);
  let snapshot = () => {};
  server.answer(
    "GET /api/agent/history",
    () => new Promise((resolve) => (snapshot = () => resolve({ body: snapshotOf("t1") }))),
    1,
  );
  await act(async () => {
    await thread.send("Hello\nyou");
  });
  const id = thread.threadId ?? "";
  expect(container.textContent).toBe(`${id}abcde`);
  expect(list.threads[0]).toMatchObject({ title: "Hello", state: "QUEUED" });
  const live = server.thread(id);
  live.snapshot = snapshotOf(id);
  snapshot();
  await act(async () => void live.start());
  await waitFor(() => expect(list.threads[0]?.state).toBe("RUNNING"));
  ids.unshift(id); // the list of the server is read while the page knows more
  await act(() => list.refresh());
  expect(container.textContent).toBe(`${id}abcde`);
  await act(async () => {
    await thread.delete();
  });
  expect(container.textContent).toBe("abcde");
  expect(reads()).toBe(2);
});

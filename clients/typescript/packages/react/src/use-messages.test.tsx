// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react";
import { memo, StrictMode } from "react";
import { afterEach, expect, test } from "vitest";
import { type FakeStore, fakeStore, message, park } from "./fake-store.js";
import { useMessage, useMessages } from "./use-messages.js";
import { useThreadActions } from "./use-thread.js";
import { useThreadState } from "./use-thread-state.js";

afterEach(cleanup);

/** A page that counts how often each of its components renders. */
function page(store: FakeStore) {
  const renders: Record<string, number> = {};
  const count = (name: string) => {
    renders[name] = (renders[name] ?? 0) + 1;
  };
  const Message = memo(({ id }: { id: string }) => {
    count(id);
    const shown = useMessage(id, { thread: store });
    return <p data-id={id}>{shown?.text}</p>;
  });
  const Title = () => {
    count("title");
    return <h1>{useThreadState(({ view }) => view.thread.title, { thread: store })}</h1>;
  };
  const List = () => {
    count("list");
    return useMessages({ thread: store }).map((id) => <Message key={id} id={id} />);
  };
  const { container } = render(
    <>
      <Title />
      <List />
    </>,
  );
  const take = () => {
    const taken = { ...renders };
    for (const name of Object.keys(renders)) {
      delete renders[name];
    }
    return taken;
  };
  return { take, text: () => [...container.querySelectorAll("p")].map((p) => p.textContent) };
}

test("a button in each message renders with its message alone", () => {
  const store = fakeStore();
  store.set({ view: { messages: [message("m0", "user", "Hello")] } });
  const seen: unknown[] = [];
  const Button = () => {
    const actions = useThreadActions({ thread: store });
    seen.push(actions);
    return <button type="button" onClick={() => actions.edit("m0", "Hi")} />;
  };
  const { rerender } = render(<Button />);
  act(() => store.set({ view: { thread: { ...store.getSnapshot().view.thread, state: "RUNNING" } } }));
  expect(seen).toHaveLength(1);
  rerender(<Button />);
  expect(seen[1]).toBe(seen[0]);
});

test("a token renders exactly one message", () => {
  const store = fakeStore();
  const messages = Array.from({ length: 50 }, (_, i) =>
    message(`m${i}`, i % 2 === 0 ? "user" : "assistant", `text ${i}`),
  );
  store.set({ view: { messages } });
  const { take, text } = page(store);
  expect(Object.keys(take())).toHaveLength(52);

  act(() => store.set({ view: { drafts: [message("d1", "assistant", [{ type: "text", text: "He" }])] } }));
  expect(take()).toEqual({ list: 1, d1: 1 });
  for (const so of ["Hel", "Hello", "Hello there"]) {
    act(() => store.set({ view: { drafts: [message("d1", "assistant", [{ type: "text", text: so }])] } }));
    expect(take()).toEqual({ d1: 1 });
  }
  expect(text().at(-1)).toBe("Hello there");

  // The draft becomes a message of the same id: nothing else renders, and its element stays.
  const saved = message("d1", "assistant", [{ type: "text", text: "Hello there" }]);
  act(() => store.set({ view: { messages: [...messages, saved], drafts: [] } }));
  expect(take()).toEqual({ d1: 1 });
  act(() => store.set({ connection: "reconnecting" }));
  expect(take()).toEqual({});
});

test("a turn of this client is shown until its message comes", () => {
  const store = fakeStore();
  const { take, text } = page(store);
  take();
  const turn = { clientMessageId: "c1", prompt: "Hi", attachments: [], status: "sending", sentAt: "" } as const;
  act(() => store.set({ turns: [turn] }));
  expect(text()).toEqual(["Hi"]);
  act(() => store.set({ turns: [], view: { messages: [message("m1", "user", "Hi", { clientMessageId: "c1" })] } }));
  expect(text()).toEqual(["Hi"]);
});

test("results, parks and nested runs are parts of the calls", () => {
  const store = fakeStore();
  const call = (id: string) => ({ type: "tool-call" as const, toolCallId: id, toolName: "send_email", args: { n: 1 } });
  const said = message("m1", "assistant", [{ type: "text", text: "I send it." }, call("c1"), call("c2")]);
  store.set({
    view: { messages: [message("m0", "user", "Send"), said], parks: [park("c2"), park("c1", { agentId: "sub" })] },
  });
  const seen: ReturnType<typeof useMessage>[] = [];
  const Calls = () => {
    seen.push(useMessage("m1", { thread: store }));
    return null;
  };
  render(<Calls />);
  const states = () =>
    seen.at(-1)?.parts.map((part) => (part.type === "tool-call" ? [part.state, part.result] : part.type));
  expect(states()).toEqual(["text", ["running", undefined], ["waiting", undefined]]);

  const results = message("d2", "tool", [
    { type: "tool-result", toolCallId: "c1", toolName: "send_email", result: "sent" },
    { type: "tool-result", toolCallId: "c2", toolName: "send_email", result: { denied: true } },
  ]);
  act(() => store.set({ view: { parks: [], drafts: [results] } }));
  expect(states()).toEqual(["text", ["done", "sent"], ["denied", { denied: true }]]);

  // The model uses an id again: the result of the earlier call is not that of the later one.
  const again = message("m3", "assistant", [call("c1")]);
  act(() => store.set({ view: { messages: [said, { ...results, id: "m2" }, again], drafts: [] } }));
  const count = seen.length;
  act(() => store.set({ view: { runs: [] } }));
  expect(seen).toHaveLength(count);
  expect(states()).toEqual(["text", ["done", "sent"], ["denied", { denied: true }]]);
});

test("StrictMode shows the same, and leaves one subscription for each hook", () => {
  const store = fakeStore();
  store.set({ view: { messages: [message("m1", "user", "Hi")] } });
  const List = () => useMessages({ thread: store }).map((id) => <p key={id}>{id}</p>);
  const { container, unmount } = render(
    <StrictMode>
      <List />
    </StrictMode>,
  );
  expect(container.textContent).toBe("m1");
  expect(store.listeners.size).toBe(1);
  unmount();
  expect(store.listeners.size).toBe(0);
});

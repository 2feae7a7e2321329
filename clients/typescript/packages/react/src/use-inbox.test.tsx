// @vitest-environment jsdom
import { scriptedServer } from "@spool/client/testing";
import { act, cleanup, render, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { SpoolProvider } from "./provider.js";
import { type Inbox, useInbox } from "./use-inbox.js";

afterEach(cleanup);

test("answered questions leave the inbox, and come back if the request fails", async () => {
  const server = scriptedServer();
  const question = (id: string) => ({ threadId: "t", toolCallId: id, toolName: "pay", digest: `sha256:${id}` });
  server.answer("GET /api/agent/inbox", { body: { questions: ["a", "b", "c"].map(question) } });
  let inbox: Inbox | undefined;
  const Questions = () => {
    inbox = useInbox({ tool: "pay" });
    return inbox.questions.map(({ toolCallId }) => toolCallId).join("");
  };
  const { container } = render(
    <SpoolProvider baseUrl="http://spool.test" fetch={server.fetch} persistence={false}>
      <Questions />
    </SpoolProvider>,
  );
  await waitFor(() => expect(container.textContent).toBe("abc"));
  expect(server.sent("GET /api/agent/inbox")[0]?.query.get("tool")).toBe("pay");

  const answers = ["a", "c"].map((id) => ({ threadId: "t", toolCallId: id, approved: true, digest: `sha256:${id}` }));
  const results = answers.map(({ threadId, toolCallId }) => ({ threadId, toolCallId, delivered: true }));
  server.answer("POST /api/agent/inbox/answers", { body: { results } }, 1);
  await act(async () => {
    expect(await inbox?.answer(answers)).toEqual(results);
  });
  expect(container.textContent).toBe("b");

  server.answer("POST /api/agent/inbox/answers", { status: 403, body: { error: "no", code: "forbidden" } });
  await act(async () => {
    expect(await inbox?.answer([{ ...question("b"), approved: false }])).toBeNull();
  });
  expect(container.textContent).toBe("b");
  expect(inbox?.error?.code).toBe("forbidden");
});

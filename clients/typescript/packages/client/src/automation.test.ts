import { expect, test } from "vitest";
import { createDelayedStarts, type DelayedStarts } from "./automation.js";
import { createClient } from "./client.js";
import { scriptedServer } from "./testing/index.js";

test.each<[string, (s: DelayedStarts) => Promise<unknown>, string, unknown?]>([
  ["list", (s) => s.list(), "GET /api/agent/starts"],
  ["list a thread", (s) => s.list({ threadId: "t1", limit: 2 }), "GET /api/agent/starts?threadId=t1&limit=2"],
  ["get", (s) => s.get("r 1"), "GET /api/agent/starts/r%201"],
  [
    "move to a date",
    (s) => s.move("r1", new Date(Date.UTC(2027, 0, 31, 9))),
    "PATCH /api/agent/starts/r1",
    { startAt: "2027-01-31T09:00:00.000Z" },
  ],
  [
    "move to a text",
    (s) => s.move("r1", "2027-01-31T09:00:00Z"),
    "PATCH /api/agent/starts/r1",
    { startAt: "2027-01-31T09:00:00Z" },
  ],
  ["cancel", (s) => s.cancel("r1"), "DELETE /api/agent/starts/r1"],
])("of delayed starts: %s", async (_, call, want, body) => {
  const server = scriptedServer();
  const starts = createDelayedStarts(createClient({ baseUrl: "http://spool.test/", fetch: server.fetch }));
  const one = { runId: "r1", threadId: "t1" };
  server.answer(want.split("?")[0] ?? "", {
    body: want.startsWith("GET /api/agent/starts/") ? one : { ...one, starts: [one] },
  });
  expect(await call(starts)).toEqual(want.match(/starts($|\?)/) ? [one] : expect.objectContaining(one));
  const [request] = server.requests;
  expect(`${request?.method} ${request?.path}${request?.query.size ? `?${request.query}` : ""}`).toBe(want);
  expect(request?.body).toEqual(body);
});

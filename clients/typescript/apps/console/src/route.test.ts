import { expect, test } from "vitest";
import { parseRoute, to } from "./route.js";

test("each address leads to its screen", () => {
  const odd = "a/b#c%d?e";
  expect(parseRoute(to.thread(odd))).toEqual({ screen: "threads", threadId: odd, fresh: false });
  expect(parseRoute(to.record(odd))).toEqual({
    screen: "threads",
    threadId: odd,
    fresh: false,
    record: { version: null },
  });
  expect(parseRoute(to.record(odd, 12))).toMatchObject({ threadId: odd, record: { version: 12 } });
  expect(parseRoute("#/threads/t1/record/-1x")).toMatchObject({ threadId: "t1", record: { version: null } });
  expect(parseRoute(to.run(odd))).toEqual({ screen: "operations", part: "runs", name: odd });
  expect(parseRoute(to.newThread)).toEqual({ screen: "threads", threadId: null, fresh: true });
  expect(parseRoute(to.inbox)).toEqual({ screen: "inbox" });
  expect(parseRoute(to.jobs)).toEqual({ screen: "operations", part: "jobs", name: null });
  expect(parseRoute(to.file)).toEqual({ screen: "file" });
});

test.each(["", "#", "#/", "#/none", "#/threads", "#/threads/%E0%A4%A"])("%s is the list", (hash) => {
  expect(parseRoute(hash)).toEqual({ screen: "threads", threadId: null, fresh: false });
});

import { expect, test } from "vitest";
import { parseRoute, to } from "./route.js";

test("each address leads to its screen", () => {
  const odd = "a/b#c%d?e";
  expect(parseRoute(to.thread(odd))).toEqual({ screen: "threads", threadId: odd, fresh: false });
  expect(parseRoute(to.run(odd))).toEqual({ screen: "operations", part: "runs", runId: odd });
  expect(parseRoute(to.newThread)).toEqual({ screen: "threads", threadId: null, fresh: true });
  expect(parseRoute(to.inbox)).toEqual({ screen: "inbox" });
  expect(parseRoute(to.jobs)).toEqual({ screen: "operations", part: "jobs", runId: null });
  expect(parseRoute(to.file)).toEqual({ screen: "file" });
});

test.each(["", "#", "#/", "#/none", "#/threads", "#/threads/%E0%A4%A"])("%s is the list", (hash) => {
  expect(parseRoute(hash)).toEqual({ screen: "threads", threadId: null, fresh: false });
});

import { createThreadStore, emptyView, type Frame, reduce, type Snapshot } from "@spool/client";
import type { ThreadRecord } from "@spool/client/record";
import { expect, test } from "vitest";
import { playerOf } from "./player.js";

const snapshot = (version: number) =>
  ({
    thread: { id: "t1", state: "COMPLETED", model: "m", title: `v${version}`, createdAt: "", updatedAt: "" },
    messages: [],
    runs: [],
    lastEventSeq: version,
    activeEvents: [],
    stream: null,
  }) as Snapshot;

function recordOf(last: number): ThreadRecord {
  const versions = Array.from({ length: last }, (_, i) => ({ version: i + 1 }));
  return { thread: { id: "t1" }, versions, at: snapshot } as unknown as ThreadRecord;
}

test("a store shows the version, and no more than the newest", async () => {
  const player = playerOf(recordOf(9), {} as never, null);
  expect(player.version).toBe(9);
  const shown: string[] = [];
  const frames: Frame[] = [];
  const store = createThreadStore(player.client, {
    threadId: "t1",
    initialView: reduce(emptyView, snapshot(9)),
    schedule: (run) => queueMicrotask(run),
    onFrame: (frame) => frames.push(frame),
  });
  const off = store.subscribe(() => shown.push(store.getSnapshot().view.thread.title ?? ""));
  const settled = () => new Promise((done) => setTimeout(done));
  await settled();
  player.goTo(3);
  await settled();
  expect(shown.at(-1)).toBe("v3");
  for (const version of [4, 5, 6, 7]) {
    player.goTo(version);
  }
  await settled();
  expect(shown.at(-1)).toBe("v7");
  expect(frames.map((frame) => frame.kind === "snapshot" && frame.snapshot.lastEventSeq)).toEqual([9, 3, 7]);
  off();
  store.close();
});

test("a version that does not exist is the nearest one", () => {
  const player = playerOf(recordOf(9), {} as never, 99);
  expect(player.version).toBe(9);
  player.goTo(0);
  expect(player.version).toBe(1);
  player.goTo(Number.NaN);
  expect(player.version).toBe(1);
  player.goTo(4.6);
  expect(player.version).toBe(5);
});

test("a newer record changes what is shown only at the end", () => {
  const newer = recordOf(12);
  const ahead = playerOf(recordOf(9), {} as never, null);
  ahead.grow(newer);
  expect([ahead.version, ahead.record]).toEqual([12, newer]);

  const named = playerOf(recordOf(9), {} as never, 9); // the address names it
  let told = 0;
  named.subscribe(() => told++);
  named.grow(newer);
  named.grow(newer);
  expect([named.version, named.follows, told]).toEqual([9, false, 1]);
  named.goTo(12, true); // another address
  named.grow(recordOf(13));
  expect(named.version).toBe(12);
  named.goTo(99);
  named.grow(recordOf(14));
  expect(named.version).toBe(14);
  named.goTo(5);
  named.grow(recordOf(15));
  expect(named.version).toBe(5);
});

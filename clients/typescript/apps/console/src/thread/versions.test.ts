import type { Branch } from "@spool/client";
import { expect, test } from "vitest";
import { versionsOf } from "./versions.js";

const branch = (id: number, fromMessageId: string, base?: string): Branch => ({
  id,
  fromMessageId,
  ...(base !== undefined && { baseMessageId: base }),
  preview: "",
  messageCount: 1,
  createdAt: "2026-01-01T00:00:00Z",
});
const messages = [{ id: "m1" }, { id: "m2" }, { id: "m5" }];

test("the versions of a turn are the branches that begin where it does, in the order in which they were written", () => {
  const branches = [branch(9, "m7", "m2"), branch(3, "m3", "m2"), branch(4, "m0")];
  const found = versionsOf("m5", messages, branches);
  expect(found?.versions.map((one) => one?.id ?? null)).toEqual([3, null, 9]);
  expect(found?.at).toBe(1);
  expect(
    versionsOf("m1", messages, branches)?.versions.map((one) => one?.id ?? null),
    "the first turn",
  ).toEqual([4, null]);
});

test("a turn without another version has none", () => {
  expect(versionsOf("m2", messages, [branch(3, "m3", "m2")])).toBeNull();
  expect(versionsOf("m5", messages, null)).toBeNull();
  expect(versionsOf("none", messages, [branch(3, "m3", "m2")])).toBeNull();
});

test("a branch that begins in another one cannot be restored, and is no version", () => {
  expect(versionsOf("m5", messages, [{ ...branch(3, "m3", "m2"), baseBranchId: 8 }])).toBeNull();
});

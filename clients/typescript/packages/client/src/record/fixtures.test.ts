import { describe, expect, test } from "vitest";
import { fixture } from "../fixtures.test-util.js";
import type { Snapshot } from "../wire.js";
import { readRecord } from "./read.js";
import type { ThreadRecord } from "./types.js";

const cases = fixture<{ records: { name: string; lines: object[]; first: number; snapshots: Snapshot[] }[] }>(
  "records",
).records;

// The server makes the same snapshots of the same files.
describe.each(cases)("$name", ({ lines, first, snapshots }) => {
  const read = () => readRecord(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const versions = snapshots.map((_, i) => first + i);
  const check = (record: ThreadRecord, version: number) =>
    expect(record.at(version), `version ${version}`).toEqual(snapshots[version - first]);

  test("has the versions", async () => {
    const record = await read();
    expect(record.versions.map((v) => v.version)).toEqual(versions);
    expect(() => record.at(first - 1)).toThrow(RangeError);
  });

  test("is at each version what the server says", async () => {
    const record = await read();
    for (const version of versions) check(record, version);
    for (const version of versions.toReversed()) check(record, version);
    for (const version of versions) check(await read(), version);
  });

  test("has each entry at one version", async () => {
    const record = await read();
    expect(record.versions.flatMap((v) => v.entries)).toEqual(record.entries);
    for (const v of record.versions) for (const e of v.entries) expect(e.seq).toBeLessThanOrEqual(v.seq);
  });
});

import { describe, expect, test } from "vitest";
import { SpoolError } from "../error.js";
import { emptyView, reduce } from "../reduce/reduce.js";
import { lines } from "./lines.test-util.js";
import { readRecord } from "./read.js";
import type { RecordSource } from "./types.js";

const file = () => `${lines().join("\n")}\n`;

async function failure(source: RecordSource, options = {}): Promise<SpoolError> {
  const error = await readRecord(source, options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(SpoolError);
  return error;
}

function bytes(text: string, size: number): ReadableStream<Uint8Array> {
  const all = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= all.length) {
        controller.close();
        return;
      }
      controller.enqueue(all.slice(at, at + size));
      at += size;
    },
  });
}

describe("a record", () => {
  test("shows each version", async () => {
    const record = await readRecord(file());
    const shown = record.versions.map(({ version }) => {
      const s = record.at(version);
      return [
        s.thread.state,
        s.messages.map((m) => m.id).join(" "),
        s.runs.map((r) => `${r.id} ${r.state}`).join(", "),
        (s.queue ?? []).map((q) => `${q.position} ${q.runId} ${q.content}`).join(", "),
        s.activeEvents.map((e) => e.type).join(" "),
        s.lastEventSeq,
      ];
    });
    expect(shown).toEqual([
      ["QUEUED", "m1", "r1 QUEUED", "", "", -1],
      ["RUNNING", "m1", "r1 RUNNING", "", "RUN_STARTED", 1],
      ["WAITING_FOR_INPUT", "m1 m2", "r1 WAITING_FOR_INPUT", "", "RUN_STARTED INPUT_REQUIRED", 2],
      ["WAITING_FOR_INPUT", "m1 m2", "r2 QUEUED, r1 WAITING_FOR_INPUT", "1 r2 Me too", "RUN_STARTED INPUT_REQUIRED", 2],
      [
        "WAITING_FOR_INPUT",
        "m1 m2",
        "r3 QUEUED, r2 QUEUED, r1 WAITING_FOR_INPUT",
        "1 r3 First, 2 r2 Me too",
        "RUN_STARTED INPUT_REQUIRED",
        2,
      ],
      ["QUEUED", "m1 m2", "r3 QUEUED, r2 QUEUED, r1 WAITING_FOR_INPUT", "1 r3 First, 2 r2 Me too", "RUN_STARTED", 3],
      ["CANCELLED", "m1 m2 m3", "r3 CANCELLED, r2 CANCELLED, r1 CANCELLED", "", "", 5],
      ["COMPLETED", "m4", "r4 COMPLETED, r3 CANCELLED, r2 CANCELLED, r1 CANCELLED", "", "", 6],
      ["COMPLETED", "m1 m2 m3", "r4 COMPLETED, r3 CANCELLED, r2 CANCELLED, r1 CANCELLED", "", "", 8],
    ]);
  });

  test("shows versions in any order, and none that does not exist", async () => {
    const record = await readRecord(file());
    const forward = record.versions.map(({ version }) => record.at(version));
    for (const version of [9, 1, 5, 4, 9, 2, 8, 7, 3, 6]) {
      expect(record.at(version)).toEqual(forward[version - 1]);
    }
    for (const version of [-1, 0, 10, 1.5, Number.NaN]) expect(() => record.at(version)).toThrow(RangeError);
  });

  test("counts the times of a run as a server does", async () => {
    const record = await readRecord(file());
    const [run] = record.at(7).runs.slice(-1);
    expect(run).toMatchObject({ durationMs: 4500, queuedMs: 1000 });
    expect(record.at(5).runs[0]).toMatchObject({ queuedMs: -3000 });
    expect(record.at(5).runs[0]).not.toHaveProperty("durationMs");
  });

  test("has the question and the budget for a view", async () => {
    const record = await readRecord(file());
    const view = reduce(emptyView, record.at(3));
    expect(view.parks).toMatchObject([{ toolCallId: "c1", toolName: "send", runId: "r1" }]);
    expect(view.runs[0]).toMatchObject({ tokenBudget: 100, totalTokens: 7 });
    expect(reduce(view, record.at(6)).parks).toEqual([]);
  });

  test("shares what versions have in common", async () => {
    const record = await readRecord(file());
    const [before, after] = [record.at(3), record.at(4)];
    expect(after.messages).toBe(before.messages);
    expect(after.runs.at(-1)).toBe(before.runs.at(-1));
    expect(record.at(3)).toEqual(before);
  });

  test("says what each commit wrote", async () => {
    const { versions, versionOf, entries, messages } = await readRecord(file());
    expect(versions.map((v) => v.entries.map((e) => e.seq))).toEqual([[], [1], [2], [], [], [3], [4, 5], [6], [7, 8]]);
    expect([1, 2, 3, 4, 8, 9].map((seq) => versionOf(seq))).toEqual([2, 3, 6, 7, 9, undefined]);
    expect(entries).toHaveLength(8);
    expect([...messages.keys()]).toEqual(["m1", "m2", "m3", "m4"]);
  });

  test("that begins later has the state before its first version", async () => {
    const record = await readRecord(lines(7).join("\n"));
    expect(record.versions.map((v) => v.version)).toEqual([0, 1, 2]);
    expect(record.versions[0]).toMatchObject({ seq: 5, delta: { version: 0 } });
    expect(record.at(0)).toMatchObject({ lastEventSeq: 5, thread: { state: "COMPLETED" } });
    expect(record.at(0).messages.map((m) => m.id)).toEqual(["m1", "m2", "m3"]);
    expect(record.at(0).runs.map((r) => r.id)).toEqual(["r3", "r2", "r1"]);
    expect(record.at(1).messages.map((m) => m.id)).toEqual(["m4"]);
    expect(record.at(2).messages.map((m) => m.id)).toEqual(["m1", "m2", "m3"]);
  });

  test("without versions is the present state", async () => {
    const record = await readRecord(lines(9).join("\n"));
    expect(record.versions).toMatchObject([{ version: 0, seq: 8 }]);
    expect(record.at(0).messages.map((m) => m.id)).toEqual(["m1", "m2", "m3"]);
    expect(record.at(0).runs).toHaveLength(4);
    expect(record.versionOf(3)).toBeUndefined();
  });

  test("of many versions keeps its states apart", async () => {
    const [first = "", ...rest] = lines();
    const at = "2026-11-28T10:00:00Z";
    const deltas = Array.from({ length: 1000 }, (_, i) => ({ version: i + 1, seq: 0, at, view: [{ add: [`n${i}`] }] }));
    const added = deltas.map((_, i) => ({
      kind: "message",
      message: { ...JSON.parse(rest[4] ?? "").message, id: `n${i}` },
    }));
    const text = [
      first,
      ...added.map((line) => JSON.stringify(line)),
      ...deltas.map((delta) => JSON.stringify({ kind: "delta", delta })),
      '{"kind":"end","version":1000}',
    ].join("\n");
    const record = await readRecord(text);
    for (const version of [1000, 999, 64, 63, 65, 1, 128, 500]) {
      expect(record.at(version).messages).toHaveLength(version);
      expect(record.at(version).messages.at(-1)?.id).toBe(`n${version - 1}`);
    }
  });
});

describe("reading", () => {
  test("takes every kind of source", async () => {
    const text = file().replace("Hello", "Grüß dich 👋");
    const sources: RecordSource[] = [
      text,
      text.trimEnd(),
      text.replaceAll("\n", "\r\n"),
      new Blob([text]),
      new Response(text),
      bytes(text, 1),
      bytes(text, 1000),
      (async function* () {
        yield text.slice(0, 700);
        yield text.slice(700);
      })(),
    ];
    for (const source of sources) {
      const record = await readRecord(source);
      expect(record.versions).toHaveLength(9);
      expect(record.thread.title).toBe("Grüß dich 👋");
    }
  });

  test.each<[string, string, string]>([
    ["an empty file", "", "this is not the record of a thread: it is empty"],
    ["a text", "Hello\n", "this is not the record of a thread: its first line does not say so"],
    ["a snapshot", '{"thread":{"id":"t1"},"messages":[]}', "not the record of a thread"],
    ["JSON of several lines", '{\n"kind":"thread"\n}', "not the record of a thread"],
  ])("refuses %s", async (_, text, message) => {
    const error = await failure(text);
    expect(error).toMatchObject({ code: "invalid", reason: "not_a_record" });
    expect(error.message).toContain(message);
  });

  test.each<[string, (lines: string[]) => string[], string]>([
    [
      "a newer form",
      (l) => [(l[0] ?? "").replace('"formatVersion":1', '"formatVersion":2'), ...l.slice(1)],
      "line 1 of the record: it has the format version 2, and this reader knows 1",
    ],
    ["a cut at a line", (l) => l.slice(0, 12), "the record was cut after line 12: its end is missing"],
    [
      "a cut in a line",
      (l) => [...l.slice(0, 12), (l[12] ?? "").slice(0, 20)],
      "line 13 of the record: it is not a JSON object, so the file is damaged or was cut here",
    ],
    [
      "a missing delta",
      (l) => l.toSpliced(-4, 1),
      "line 25 of the record: the delta has the version 8, and 7 comes next",
    ],
    [
      "deltas that are missing at the end",
      (l) => l.toSpliced(-2, 1),
      "the end has the version 9, and the last delta 8",
    ],
    ["another record behind it", (l) => [...l, ...l], "line 29 of the record: it comes after the end"],
    ["a second thread", (l) => [...l.slice(0, 1), ...l], "line 2 of the record: a record has one thread"],
    [
      "a message without an id",
      (l) => l.with(5, '{"kind":"message","message":{}}'),
      "line 6 of the record: the message has no id",
    ],
  ])("refuses %s", async (_, change, message) => {
    const error = await failure(change(lines()).join("\n"));
    expect(error.message).toContain(message);
    expect(error.code).toBe("invalid");
    expect(error.reason).toBeUndefined();
  });

  test("has a bound for a line", async () => {
    const error = await failure(bytes("x".repeat(5000), 100), { maxLine: 1000 });
    expect(error.message).toBe("line 1 of the record has more than 1000 characters");
    expect((await failure(file(), { maxLine: 100 })).message).toBe("line 1 of the record has more than 100 characters");
  });

  test("says why a server refuses, and that a connection broke off", async () => {
    const refused = new Response('{"error":"thread not found","code":"not_found"}', { status: 404 });
    expect(await failure(refused)).toMatchObject({ code: "not_found", message: "thread not found", status: 404 });
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new TypeError("network")),
    });
    expect(await failure(broken)).toMatchObject({
      code: "unavailable",
      message: "the record cannot be read to its end",
    });
    const stopped = AbortSignal.abort();
    expect((await failure(file(), { signal: stopped })).code).toBe("canceled");
  });
});

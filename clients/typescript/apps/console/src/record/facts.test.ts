import { readRecord } from "@spool/client/record";
import { expect, test } from "vitest";
import fixtures from "../../../../../../spec/fixtures/records.json?raw";
import { factsOf } from "./facts.js";
import { marksOf, nextMark } from "./scrubber.js";

interface Case {
  name: string;
  lines: object[];
}

const cases: Case[] = JSON.parse(fixtures).records;

async function told(name: string, changed = (line: string) => line) {
  const found = cases.find((one) => one.name === name);
  const record = await readRecord((found?.lines ?? []).map((line) => changed(JSON.stringify(line))).join("\n"));
  return factsOf(record);
}

const lines = async (name: string, changed?: (line: string) => string) =>
  (await told(name, changed)).map(({ version, marks, caption }) => `${version} [${marks.join(" ")}] ${caption}`);

test("a crash, the takeover and the redone step", async () => {
  expect(await lines("Lease/DeadWorker")).toEqual([
    "1 [] The user said “go”.",
    "2 [start] A worker began the run.",
    "3 [lost takeover] The worker of segment 1 was lost; another worker took the run over, with segment 2.",
    "4 [redone end] The agent said “whole”; the run ended; step 1 was done again, and saved.",
  ]);
});

test("a question in a nested run", async () => {
  expect(await lines("Nested/Park")).toEqual([
    "1 [] The user said “go”.",
    "2 [start] A worker began the run.",
    "3 [] The nested run helper began.",
    "4 [] The nested run helper called send and look; the result of look was saved.",
    "5 [asked] The agent called spawnSubagent and look; the result of look was saved; the run waits for someone to approve send.",
    "6 [answered] ann approved send.",
    "7 [] A worker went on with the run, with segment 2.",
    expect.any(String),
    "9 [] The result of send was saved.",
    "10 [] The nested run helper said “sent”; the nested run helper ended: completed.",
    "11 [] The result of spawnSubagent was saved.",
    "12 [end] The agent said “done”; the run ended.",
  ]);
});

test("a tool that failed, and an answer by a link", async () => {
  const told = await lines("Nested/Park", (line) =>
    line
      .replace('"toolName":"look","result":"seen"', '"toolName":"look","result":"error: shop answered with status 500"')
      .replace('"answeredBy":"ann"', '"answeredBy":"ann","via":"link","viaBy":"cleo"'),
  );
  expect(told[3]).toBe(
    "4 [failed] The nested run helper called send and look; look failed: “shop answered with status 500”.",
  );
  expect(told[5]).toBe("6 [answered] ann approved send by a link of cleo.");
});

test("a budget that is used up", async () => {
  const told = await lines("Budget/Park");
  expect(told).toContain("7 [budget asked] The budget of 160 tokens is used up, and the run asks for a new one.");
  expect(told[7]).toMatch(/^8 \[budget answered\] ann approved a new budget; the budget is 5,000 tokens/);
});

test("edits, branches and messages that waited", async () => {
  expect((await lines("Branch/BackAndForth")).slice(7, 11)).toEqual([
    "8 [edit] “2” replaced an earlier turn, whose messages are a branch now.",
    "9 [start] A worker began the run.",
    "10 [end] The agent said “re: 2”; the run ended.",
    "11 [edit] A branch came back with 4 messages.",
  ]);
  expect((await lines("Wait/Latest")).slice(2, 7)).toEqual([
    "3 [] The message “r2” waits for the thread (enqueue).",
    "4 [] A message that waited was cancelled; the message “r3” waits for the thread (latest).",
    "5 [] A message that waited was cancelled; the message “r4” waits for the thread (latest).",
    "6 [] The message “r5” waits for the thread (enqueue).",
    "7 [end] The agent said “re: r1!”; the run ended; the user said “r4”.",
  ]);
  expect(await lines("Steer/Several")).toContain("10 [steered] The message “r5” was put into the run, after step 2.");
  expect((await lines("Context/Compacts"))[12]).toBe("13 [compacted] 8 messages were summarised for the model.");
});

test("every commit has a sentence", async () => {
  for (const { name } of cases) {
    for (const { caption } of await told(name)) {
      expect(caption, name).toMatch(/^.{8,300}[.?!]”?$/);
      expect(caption, name).not.toMatch(/undefined|null|NaN|\[object/);
    }
  }
});

test("marks are places to jump to", async () => {
  const facts = await told("Lease/DeadWorker");
  expect([1, 2, 3, 4].map((version) => nextMark(facts, version, 1))).toEqual([2, 3, 4, null]);
  expect([1, 2, 3, 4].map((version) => nextMark(facts, version, -1))).toEqual([null, null, 2, 3]);
  expect(marksOf(facts).map((mark) => mark.kind)).toEqual(["start", "lost", "redone"]);
  const older = await told("Branch/BackAndForth, older than its deltas");
  expect(older[0]).toMatchObject({ version: 0, marks: [] });
  expect(nextMark(older, 0, 1)).toBe(1);
  expect(nextMark(older, 1, -1)).toBeNull();
});

test("many marks at one place are one", () => {
  const facts = Array.from({ length: 10_000 }, (_, i) => ({
    version: i + 1,
    at: "",
    caption: "",
    marks: i === 5000 ? (["lost", "end"] as const) : (["end"] as const),
  }));
  const marks = marksOf(facts);
  expect(marks.length).toBeLessThan(400);
  expect(marks.filter((mark) => mark.kind === "lost")).toHaveLength(1);
});

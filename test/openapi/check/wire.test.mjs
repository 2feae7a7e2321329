// What Spool's document says of frames, items, events and messages: the recorded ones of
// spec/fixtures are so, and a client needs no type of its own.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const cwd = fileURLToPath(new URL("..", import.meta.url));
const spec = new URL("../../../spec/", import.meta.url);
const json = async (path) => JSON.parse(await readFile(new URL(path, spec), "utf8"));
const document = await json("openapi.json");

// strict refuses the fields that the document does not have: a client ignores them, but the
// document is to know what a server sends.
function strict(schema) {
  if (schema === null || typeof schema !== "object") {
    return schema;
  }
  if (Array.isArray(schema)) {
    return schema.map(strict);
  }
  const made = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, key === "examples" ? value : strict(value)]));
  if (made.type === "object" && made.properties !== undefined && made.additionalProperties === undefined) {
    made.additionalProperties = false;
  }
  return made;
}

const ajv = new Ajv2020({ discriminator: false, strict: false });
addFormats.default(ajv);
ajv.addFormat("int64", true);
ajv.addFormat("int32", true);
ajv.addSchema({ $id: "document", components: { schemas: strict(document.components.schemas) } });

function check(schema, value) {
  const validate = ajv.getSchema(`document#/components/schemas/${schema}`);
  return validate(value) ? [] : validate.errors;
}

const events = Object.keys(document.components.schemas.Event.discriminator.mapping);
const eventOf = (value) => (events.includes(value.type) ? "Event" : "ApplicationEvent");

for (const [file, list, schema] of [
  ["entries", "entries", eventOf],
  ["entries", "notices", eventOf],
  ["items", "items", () => "Item"],
  ["messages", "messages", () => "Message"],
  ["snapshots", "snapshots", () => "Snapshot"],
  ["frames", "frames", () => "Frame"],
]) {
  test(`${list} of ${file}.json are as the document says`, async () => {
    const all = (await json(`fixtures/${file}.json`))[list];
    assert.ok(all.length > 0);
    for (const { name, value } of all) {
      assert.equal(check(schema(value), value).length > 0, name.includes("to come"), `${name}: ${ajv.errorsText(check(schema(value), value))}`);
    }
  });
}

test("every frame of a whole run is as the document says", async () => {
  for (const { frame } of (await json("fixtures/transcript.json")).frames) {
    assert.deepEqual(check("Frame", frame), [], JSON.stringify(frame));
  }
});

test("a frame that is wrong is refused", () => {
  for (const frame of [{}, { kind: "other" }, { kind: "thread" }, { kind: "stream", streamId: "r1:1", item: { type: "RUN_FINISHED" } }]) {
    assert.notDeepEqual(check("Frame", frame), []);
  }
});

// A switch over all kinds of event, which reads the fields that the examples have.
async function kinds() {
  const fields = new Map(events.map((type) => [type, new Set()]));
  const { entries, notices } = await json("fixtures/entries.json");
  for (const { value } of [...entries, ...notices]) {
    Object.keys(value.payload ?? {}).forEach((name) => fields.get(value.type)?.add(name));
  }
  const cases = [...fields].map(([type, names]) => {
    assert.ok(names.size > 0, `entries.json has no ${type} with a payload`);
    return `    case ${JSON.stringify(type)}:\n      return [${[...names].map((name) => `event.payload.${name}`).join(", ")}];\n`;
  });
  return `
// Written by wire.test.mjs.
export function kinds(event: Schemas["Event"]): unknown[] {
  switch (event.type) {
${cases.join("")}    default: {
      // An application's own events have types that no document knows.
      const own: Schemas["ApplicationEvent"] = event;
      return [own.payload];
    }
  }
}
`;
}

// TypeScript checks that each switch has every case, and each payload its fields.
test("a client follows a stream with generated types alone", async (t) => {
  const { frames } = await json("fixtures/transcript.json");
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/event-stream");
    response.end(frames.map(({ id, frame }) => `${id === null ? "" : `id: ${id}\n`}data: ${JSON.stringify(frame)}\n\n`).join(": keepalive\n\n"));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const out = await mkdtemp(join(tmpdir(), "openapi-wire-test-"));
  t.after(() => rm(out, { recursive: true, force: true }));

  const client = join(out, "follow.ts");
  await writeFile(client, (await readFile(join(cwd, "follow.ts"), "utf8")) + (await kinds()));
  const args = ["client.mjs", "../../spec/openapi.json", client, out, "--run", `http://127.0.0.1:${server.address().port}/`];
  const { code, text } = await new Promise((resolve) => {
    execFile(execPath, args, { cwd }, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, text: stdout + stderr }));
  });
  assert.equal(code, 0, text);
  const lines = text.trimEnd().split("\n");
  assert.equal(lines.length, frames.length);
  assert.equal(lines[0], "state QUEUED");
  assert.ok(lines.some((line) => line.includes("waits: approval")), text);
  assert.ok(!text.includes("to come") && !text.includes("undefined"), text);
});

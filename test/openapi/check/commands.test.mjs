// The programs themselves: what they print, and what they exit with.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const cwd = fileURLToPath(new URL("..", import.meta.url));

const run = (...args) =>
  new Promise((resolve) => {
    execFile(execPath, args, { cwd }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, text: stdout + stderr });
    });
  });

async function temporary(t) {
  const dir = await mkdtemp(join(tmpdir(), "openapi-client-test-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return join(dir, "out");
}

test("validate.mjs accepts a good document", async () => {
  assert.deepEqual(await run("validate.mjs", "testdata/good.json"), { code: 0, text: "" });
});

for (const [file, ...texts] of [
  ["bad-keys.json", "keys must be unique"],
  ["bad-operations.json", "is not in the document", `path parameter "id"`, "too", "security schemes"],
  ["bad-schema.yaml", "allowed values", "nullable: means nothing", "must be integer"],
  ["bad-version.json", "not a version 3.1"],
]) {
  test(`validate.mjs refuses ${file}`, async () => {
    const { code, text } = await run("validate.mjs", "testdata/good.json", `testdata/${file}`);
    assert.equal(code, 1);
    for (const part of texts) {
      assert.ok(text.includes(part), `no ${part} in ${text}`);
    }
    assert.ok(!text.includes("good.json"), text);
  });
}

test("validate.mjs wants a file that is there", async () => {
  assert.equal((await run("validate.mjs")).code, 2);
  assert.equal((await run("validate.mjs", "testdata/none.json")).code, 1);
});

test("lint.mjs finds errors of the recommended rules, and only those", async () => {
  assert.deepEqual(await run("lint.mjs", "testdata/good.json"), { code: 0, text: "" });
  const { code, text } = await run("lint.mjs", "testdata/good.json", "testdata/bad-operations.json");
  assert.equal(code, 1);
  assert.match(text, /^testdata\/bad-operations.json: #\/openapi: no-empty-servers: /m);
  assert.doesNotMatch(text, /good.json|info-license/);
  assert.equal((await run("lint.mjs")).code, 2);
});

test("client.mjs compiles a client and runs it", async (t) => {
  const server = createServer((request, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ items: [{ id: 1, title: `asked ${request.url}`, price: 1 }], next: null }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), server.close()));

  const out = await temporary(t);
  const address = `http://127.0.0.1:${server.address().port}`;
  const { code, text } = await run("client.mjs", "testdata/good.json", "testdata/client-good.ts", out, "--run", address);
  assert.equal(text, "asked /books?page=1&order=-price\n");
  assert.equal(code, 0);
});

test("client.mjs refuses a client that the document refutes", async (t) => {
  const { code, text } = await run("client.mjs", "testdata/good.json", "testdata/client-bad.ts", await temporary(t));
  assert.equal(code, 1);
  assert.match(text, /client\.ts\(6,.*TS2322/);
  assert.match(text, /client\.ts\(7,.*TS2554/);
});

test("client.mjs refuses a document without a meaning", async (t) => {
  const { code, text } = await run("client.mjs", "testdata/bad-keys.json", "testdata/client-good.ts", await temporary(t));
  assert.equal(code, 1);
  assert.match(text, /unique/);
});

test("page.mjs says how it is called", async () => {
  for (const args of [[], ["http://127.0.0.1/"], ["nowhere", "a.png"], ["http://127.0.0.1/", "a.png", "--shout"]]) {
    const { code, text } = await run("page.mjs", ...args);
    assert.equal(code, 2);
    assert.match(text, /usage: /);
  }
});

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { after, before, describe, test } from "node:test";

import { open, program, visit } from "./page.mjs";

const skip = env.SPOOL_TEST_REQUIRE !== "1" && !existsSync(program) && `there is no ${program}`;

const pages = {
  "/good": { body: `<p>Hello</p><img src="/pixel.svg"><img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">` },
  "/folded": { body: `<details><summary class="s">More</summary><p>One</p></details><details><summary class="s">More</summary><p>Two</p></details>` },
  "/field": { body: `<input oninput="p.textContent = 'Hello, ' + value"><p id="p"></p>` },
  "/reader": { body: `<p id="p"></p><script>fetch("/stream").then(async ({ body }) => { const r = body.getReader(); await r.read(); await r.cancel(); p.textContent = "read" })</script>` },
  "/image": { body: `<img src="http://203.0.113.1/a.png">` },
  "/port": { body: `<script>fetch("http://127.0.0.1:1/a").catch(() => {})</script>` },
  "/socket": { body: `<script>new WebSocket("ws://" + location.host + "/s")</script>` },
  "/error": { body: `<script>console.error("no good")</script>` },
  "/throw": { body: `<script>throw new Error("oh dear")</script>` },
  "/missing": { body: `<img src="/none.png">` },
  "/inline": { policy: "default-src 'self'", body: `<script>1</script>` },
  "/eval": { policy: "script-src 'unsafe-inline'", body: `<script>try { eval("1") } catch {}</script>` },
  "/style": { policy: "style-src 'self'", body: `<p style="color: red">Hello</p>` },
};

let server;
let origin;
let browser;
let dir;
let visits = 0;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "openapi-page-test-"));
  server = createServer((request, response) => {
    if (request.url === "/pixel.svg") {
      response.writeHead(200, { "Content-Type": "image/svg+xml" });
      response.end(`<svg xmlns="http://www.w3.org/2000/svg"/>`);
      return;
    }
    if (request.url === "/stream") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(": hello\n\n");
      return;
    }
    const page = pages[request.url];
    response.writeHead(page === undefined ? 404 : 200, {
      "Content-Type": "text/html",
      ...(page?.policy && { "Content-Security-Policy": page.policy }),
    });
    response.end(`<!doctype html><title>T</title><link rel="icon" href="data:,">${page?.body ?? "none"}`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = skip ? undefined : await open(origin);
});

after(async () => {
  await browser?.close();
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});

const see = (path, rest = {}) =>
  visit(browser, {
    address: origin + path,
    picture: join(dir, `${++visits}.png`),
    actions: [],
    texts: [],
    milliseconds: 60_000,
    ...rest,
  });

// Visits wait more than they work.
describe("visit", { skip, concurrency: 4 }, () => {
  test("a page with nothing wrong", async () => {
    const picture = join(dir, "good.png");
    assert.deepEqual(await see("/good", { picture, texts: ["Hello"] }), []);
    assert.equal((await readFile(picture)).subarray(1, 4).toString(), "PNG");
  });

  test("fills in a field", async () => {
    assert.deepEqual(await see("/field", { actions: [{ selector: "input", text: "Ada" }], texts: ["Hello, Ada"] }), []);
  });

  test("lets a page stop reading a stream", async () => {
    assert.deepEqual(await see("/reader", { texts: ["read"] }), []);
  });

  test("clicks on all there is", async () => {
    assert.deepEqual(await see("/folded", { actions: [{ selector: ".s" }], texts: ["One", "Two"] }), []);
  });

  test("a text that stays hidden", async () => {
    assert.deepEqual(await see("/folded", { texts: ["Two"], milliseconds: 10_000 }), [`does not show "Two"`]);
  });

  test("nothing to click on", async () => {
    const problems = await see("/good", { actions: [{ selector: ".none" }], milliseconds: 10_000 });
    assert.match(problems.join("\n"), /cannot be looked at/);
  });

  for (const [path, text] of Object.entries({
    "/none": /is answered 404/,
    "/image": /asks another origin: http:\/\/203\.0\.113\.1\/a\.png/,
    "/port": /asks another origin: http:\/\/127\.0\.0\.1:1\/a/,
    "/socket": /opens a socket/,
    "/error": /error on the console: no good/,
    "/throw": /throws: oh dear/,
    "/missing": /is answered 404: .*\/none\.png/,
    "/inline": /violates its policy: script-src-elem inline/,
    "/eval": /violates its policy: script-src eval/,
    "/style": /violates its policy: style-src-attr inline/,
  })) {
    test(`finds what is wrong with ${path}`, async () => {
      assert.match((await see(path)).join("\n"), text);
    });
  }
});

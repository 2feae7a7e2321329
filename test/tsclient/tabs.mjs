// Eight tabs of one browser show a thread over one connection, with the channels and locks of a real Chromium: the tab
// that has the connection is closed, another one reloads, and the server is killed in the middle of an answer.
// It takes the program of the server, and prints "ok".
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const clients = new URL("../../clients/typescript/", import.meta.url);
const require = createRequire(new URL("package.json", clients));
const { build } = await import(pathToFileURL(join(fileURLToPath(clients), "node_modules/vite/dist/node/index.js")).href);
const { chromium } = require("playwright-core");
const program = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "spool-tabs-"));

const entry = fileURLToPath(new URL("packages/client/src/index.ts", clients));
const { output } = (await build({
  configFile: false,
  logLevel: "error",
  build: { write: false, target: "es2022", lib: { entry, formats: ["es"], fileName: "client" } },
}))[0];
const files = new Map(output.map((f) => [`/${f.fileName}`, f.code]));
const first = output.find((f) => f.isEntry).fileName;

const web = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://page");
  const code = files.get(pathname);
  response.setHeader("Content-Type", code ? "text/javascript" : "text/html");
  response.end(code ?? `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
    import { createClient, createThreadStore } from "/${first}";
    const client = createClient({ baseUrl: new URLSearchParams(location.search).get("server") });
    window.store = createThreadStore(client, { threadId: "t1", shareTabs: true });
    store.subscribe(() => {});
  </script>`);
});
await once(web.listen(0, "127.0.0.1"), "listening");
const origin = `http://127.0.0.1:${web.address().port}`;

let server;
let address = "127.0.0.1:0";
async function serve() {
  const args = ["serve", "--listen", address, "--data", join(folder, "data"), "--cors-origin", origin];
  server = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const pipe of [server.stdout, server.stderr]) pipe.on("data", (piece) => { said += piece; });
  for (;;) {
    const url = /http:\/\/[\w.]+:(\d+)/.exec(said);
    if (url) { address = `127.0.0.1:${url[1]}`; return; }
    if (server.exitCode !== null) throw new Error(said);
    await new Promise((resolve) => { server.stderr.once("data", resolve); server.stdout.once("data", resolve); server.once("exit", resolve); });
  }
}

function check(what, fits) {
  if (!fits) throw new Error(what);
}

await serve();
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launchPersistentContext(join(folder, "browser"), { executablePath: process.env.SPOOL_TEST_CHROMIUM ?? "/usr/bin/chromium", headless: true, args });
try {
  const start = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ threadId: "t1", prompt: "Hello" }) };
  check("start", (await fetch(`http://${address}/api/agent/run`, start)).ok);
  let streams = 0;
  const pages = [];
  const open = async () => {
    const page = await browser.newPage();
    page.on("request", (r) => { if (r.url().includes("/api/agent/stream")) streams++; });
    page.on("pageerror", (error) => { throw error; });
    await page.goto(`${origin}/?server=${encodeURIComponent(`http://${address}`)}`);
    pages.push(page);
  };
  const all = (what, arg) => Promise.all(pages.map((page) => page.waitForFunction(what, arg, { timeout: 60_000, polling: 100 })));
  const connected = () => all(() => store.getSnapshot().connection === "open");
  const streaming = (text) => all((text) => JSON.stringify(store.getSnapshot().view.drafts).includes(text), text);

  for (let i = 0; i < 8; i++) await open();
  await connected();
  check(`eight tabs opened ${streams} streams`, streams === 1);

  await pages[5].evaluate(() => store.send("slow 60"));
  await streaming("1 2 3");
  await pages.shift().close(); // it was the first, so it has the connection
  await streaming("8 9 10");
  await pages[3].reload();
  await connected();
  server.kill("SIGKILL");
  await all(() => store.getSnapshot().connection === "reconnecting");
  await serve();
  await all(() => {
    const { view } = store.getSnapshot();
    return view.thread.state === "COMPLETED" && view.drafts.length === 0 && JSON.stringify(view.messages).includes("59 60");
  });
  const shown = await Promise.all(pages.map((page) => page.evaluate(() =>
    JSON.stringify(store.getSnapshot().view.messages.map((m) => [m.role, m.content])))));
  check("the tabs show the same", new Set(shown).size === 1 && shown[0].split("59 60").length === 2);
  console.log("ok");
} finally {
  await browser.close();
  server.kill("SIGKILL");
  web.close();
  rmSync(folder, { recursive: true, force: true });
}

// Opens records in the console without a server: only the files of console/dist are there, and then not even those. Drops
// each record of spec/fixtures/records.json on the page, moves to every version, and compares what the page shows with the
// snapshot of that version in the fixture.
//
//     node scripts/static.mjs [folder for screenshots]

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "./browser.mjs";

const [, , shots] = process.argv;
const top = fileURLToPath(new URL("../../../../..", import.meta.url));
const { records } = JSON.parse(readFileSync(join(top, "spec/fixtures/records.json"), "utf8"));
const dir = mkdtempSync(join(tmpdir(), "spool-static-"));
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const problems = [];

const site = createServer((request, response) => {
  const path = new URL(request.url, "http://site").pathname;
  try {
    const file = path === "/" ? "index.html" : path.slice(1);
    const data = readFileSync(join(top, "console/dist", file));
    response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" }).end(data);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${site.address().port}/`;

/** The file of a record. */
const fileOf = ({ lines }) => `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;

/** Drops a file on the page, as somebody would. */
async function drop(page, name, text) {
  const transfer = await page.evaluateHandle(
    ([name, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name, { type: "application/x-ndjson" }));
      return transfer;
    },
    [name, text],
  );
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

const squeezed = (text) => text.replace(/\s+/g, " ").trim();
const textsOf = ({ content }) =>
  (typeof content === "string" ? [content] : Array.isArray(content) ? content : [])
    .map((part) => (typeof part === "string" ? part : part.type === "text" ? part.text : ""))
    .filter((text) => text !== "")
    .map(squeezed);

/** What the page shows, and what the snapshot of the fixture has, in the same form. */
async function shownBy(page) {
  return page.evaluate(() => {
    const squeezed = (element) => (element?.textContent ?? "").replace(/\s+/g, " ").trim();
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
      state: document.querySelector(".thread-head .state")?.dataset.state,
      messages: all(".messages-inner > article[data-id]").map((e) => ({ id: e.dataset.id, text: squeezed(e) })),
      queue: all('.messages-inner > [data-status="queued"]').map((e) => squeezed(e.querySelector(".plain"))),
      parks: all(".park").map((e) => e.dataset.call),
      runs: all(".run-tree .run-line .state").map((e) => e.dataset.state),
    };
  });
}

function compare(name, version, shown, snapshot) {
  const wrong = (what, is, wanted) =>
    problems.push(`${name}, version ${version}: ${what} ${JSON.stringify(is)}, want ${JSON.stringify(wanted)}`);
  const same = (what, is, wanted) => JSON.stringify(is) !== JSON.stringify(wanted) && wrong(what, is, wanted);
  same("the state is", shown.state, snapshot.thread.state);
  const messages = snapshot.messages.filter((m) => m.agentId === null && m.role !== "tool");
  const ids = messages.map((m) => m.id);
  same(
    "the messages are",
    shown.messages.map((m) => m.id),
    ids.slice(-200),
  );
  for (const message of messages) {
    const text = shown.messages.find((m) => m.id === message.id)?.text ?? "";
    for (const part of textsOf(message)) {
      if (!text.includes(part)) {
        wrong(`the text of ${message.id} is`, text, part);
      }
    }
  }
  same(
    "the queue is",
    shown.queue,
    (snapshot.queue ?? []).map((q) => textsOf(q).join(" ")),
  );
  const open = snapshot.activeEvents.filter((e) => e.type === "INPUT_REQUIRED").map((e) => e.payload.toolCallId);
  same("the questions are", shown.parks, open);
  const roots = snapshot.runs.filter((run) => run.depth === 0).slice(0, 3);
  if (shown.runs.length < roots.length) {
    wrong(
      "the runs are",
      shown.runs,
      roots.map((run) => run.state),
    );
  }
}

let browser;
try {
  browser = await openBrowser(dir);
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => problems.push(`error: ${error.stack ?? error}`));
  await page.goto(address);
  await page.getByText("does not answer", { exact: false }).waitFor();
  // The parts of the page that a file needs are loaded with the first one. Then nothing is there any more.
  let offline = false;
  page.on("request", (request) => {
    if (offline && new URL(request.url()).protocol.startsWith("http")) {
      problems.push(`the page asks the network: ${request.url()}`);
    }
  });
  let compared = 0;
  for (const record of records) {
    await drop(page, `${record.name}.ndjson`, fileOf(record));
    await page.locator(".thread-head .tag", { hasText: `${record.name}.ndjson` }).waitFor();
    if (!offline) {
      await browser.setOffline(true);
      offline = true;
    }
    const slider = page.getByRole("slider", { name: "Version of the thread" });
    await slider.press("Home");
    for (const [i, snapshot] of record.snapshots.entries()) {
      const version = record.first + i;
      if (i > 0) {
        await slider.press("ArrowRight");
      }
      const value = await slider.inputValue();
      if (value !== String(version)) {
        problems.push(`${record.name}: the slider is at ${value}, want ${version}`);
      }
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      compare(record.name, version, await shownBy(page), snapshot);
      compared++;
    }
    // Back at once, over all of them.
    await slider.press("Home");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    compare(record.name, record.first, await shownBy(page), record.snapshots[0]);
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      await page.keyboard.press("]");
      await page.screenshot({ path: join(shots, `record-${record.name.replace(/\W+/g, "-")}.png`) });
    }
  }
  // What is no record says so, and a record that was cut too.
  await drop(page, "cut.ndjson", fileOf(records[0]).split("\n").slice(0, -2).join("\n"));
  await page.getByText("the record was cut after line", { exact: false }).waitFor();
  await drop(page, "other.json", "{}");
  await page.getByText("The file is not a thread.", { exact: false }).waitFor();
  console.log(`console: ${records.length} records without a server, ${compared} versions`);
} catch (error) {
  problems.push(error.stack ?? String(error));
} finally {
  await browser?.close();
  site.close();
  rmSync(dir, { recursive: true, force: true });
}
for (const problem of problems) {
  console.error(`console: ${problem}`);
}
process.exit(problems.length === 0 ? 0 : 1);

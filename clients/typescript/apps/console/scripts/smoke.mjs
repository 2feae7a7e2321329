// Opens the console of a real server in Chromium as a new user would: sends a prompt, approves a tool, reads the answer.
// Fails for an error in the browser's console, a violation of the page's policy, a request to another server, and a serious
// finding of axe on any screen.
//
// It also answers in the inbox, looks back at the states that a thread had, forks and exports it, kills the server in the
// middle of a step, and looks at all screens, in the dark and at the width of a phone.
//
//     node scripts/smoke.mjs ./spool [folder for screenshots]
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openBrowser } from "./browser.mjs";

const [, , binary, shots] = process.argv;
if (binary === undefined) {
  console.error("usage: node scripts/smoke.mjs SPOOL [FOLDER]");
  process.exit(2);
}
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const dir = mkdtempSync(join(tmpdir(), "spool-console-"));
/** How long it waits for anything, in milliseconds: enough for a machine that has much else to do. */
const patience = 60_000;
const problems = [];
/** Whether the browser's messages do not count. */
let quiet = false;

/** Who is told of events. */
const told = createServer((request, answer) => {
  request.resume().on("end", () => answer.writeHead(204).end());
});
await new Promise((resolve) => told.listen(0, "127.0.0.1", resolve));
writeFileSync(
  join(dir, "spool.yaml"),
  JSON.stringify({
    limits: { lease: "6s" }, // the longest that a killed server holds its run
    webhooks: {
      endpoints: [
        {
          name: "billing",
          url: `http://127.0.0.1:${told.address().port}/secret-path`,
          secrets: [`whsec_${Buffer.alloc(24, "s").toString("base64")}`],
        },
      ],
    },
  }),
);

/** Starts a server below a base path, and returns where it listens. */
function serve(port = 0) {
  const server = spawn(
    resolve(binary),
    ["serve", "--listen", `127.0.0.1:${port}`, "--config", "spool.yaml", "--data", "data", "--base-path", "/agents"],
    { cwd: dir, stdio: ["ignore", "pipe", "pipe"] },
  );
  const url = new Promise((resolve, reject) => {
    let text = "";
    for (const out of [server.stdout, server.stderr]) {
      out.on("data", (data) => {
        text += data;
        const found = /The console, in a browser: (\S+)/.exec(text);
        if (found !== null) {
          resolve(found[1]);
        }
      });
    }
    server.on("exit", () => reject(new Error(`the server has ended:\n${text}`)));
    setTimeout(() => reject(new Error(`the server names no console:\n${text}`)), patience);
  });
  return { server, url };
}

let { server, url } = serve();
let browser;
try {
  const address = await url;
  browser = await openBrowser(dir);
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  page.on("console", (message) => {
    if (!quiet && (message.type() === "error" || message.type() === "warning")) {
      problems.push(`console: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.stack ?? error}`));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(address).origin) {
      problems.push(`the page asks another server: ${request.url()}`);
    }
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });

  /** Starts a run beside the page. */
  const start = async (threadId, prompt, fields = {}) => {
    const answer = await fetch(`${address}api/agent/run?wait=15s`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ threadId, prompt, ...fields }),
    });
    if (!answer.ok) {
      throw new Error(`start ${threadId}: ${answer.status} ${await answer.text()}`);
    }
  };

  /** Looks at the screen. axe is evaluated by the debugger, which the page's policy does not bind. */
  const look = async (name) => {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const violation of violations) {
      if (violation.impact === "serious" || violation.impact === "critical") {
        problems.push(
          `axe, ${name}: ${violation.id}: ${violation.help}\n  ${violation.nodes.map((n) => n.html).join("\n  ")}`,
        );
      }
    }
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      await page.screenshot({ path: join(shots, `${name}.png`) });
    }
  };

  await page.goto(address.replace(/\/$/, "")); // without the "/", as somebody types it
  await page.getByLabel("Message to the agent").waitFor();
  await look("new-thread");

  await page.getByLabel("Message to the agent").fill('use send_email with {"to": "ann@example.com"}');
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Allow send_email?" }).waitFor();
  await look("approval");

  await page.getByRole("button", { name: "Edit the arguments" }).click();
  await page.getByLabel("to", { exact: true }).fill("bob@example.com");
  await page.getByLabel("Reason").fill("Ann has left.");
  await look("approval-edited");
  await page.getByRole("button", { name: "Approve the edited call" }).click();
  await page.getByText("No email was sent to bob@example.com").first().waitFor();
  await page.getByText("send_email answered").waitFor();
  await look("answer");

  // Text of a model is text: the page must show it and not run it.
  const attack =
    '<img src=x onerror="document.title=1"> [a](javascript:document.title=1) ![b](https://other.invalid/x.png) [c](https://example.com/)';
  await page.getByLabel("Message to the agent").fill(attack);
  await page.keyboard.press("Enter");
  await page.locator(".answer").last().getByText("[image: b]").waitFor();
  const answer = page.locator(".answer").last();
  if ((await answer.locator("img").count()) !== 0 || (await answer.locator('a[href^="javascript"]').count()) !== 0) {
    problems.push("text of a model became a part of the page");
  }
  const link = answer.getByRole("link", { name: "c" });
  if ((await link.getAttribute("rel")) !== "noopener noreferrer") {
    problems.push("a link of a model tells where it came from");
  }

  // Back to the open question, and to the moment before the edit.
  const slider = page.getByRole("slider", { name: "Version of the thread" });
  const past = page.locator(".past .messages");
  const first = 'use send_email with {"to": "ann@example.com"}';
  await page
    .locator(".turn", { hasText: attack.slice(0, 20) })
    .getByRole("button", { name: "Edit" })
    .click();
  await page.getByLabel("New text of the turn").fill("An edited turn.");
  await page.keyboard.press("Control+Enter");
  await page.locator(".answer").getByText("An edited turn.").waitFor();
  await page.getByRole("link", { name: "History" }).click();
  await past.getByText("An edited turn.").first().waitFor();
  await look("history");
  const last = Number(await slider.inputValue());
  /** Presses a key until the caption says something. */
  const seek = async (key, text) => {
    for (let presses = 0; !(await page.locator(".caption").textContent())?.includes(text); presses++) {
      if (presses === 200) {
        throw new Error(`no commit says: ${text}`);
      }
      await page.keyboard.press(key);
    }
  };
  await seek("[", "replaced an earlier turn");
  await page.keyboard.press("ArrowLeft"); // to before the edit
  await past.locator(".turn", { hasText: attack.slice(0, 20) }).waitFor();
  if ((await past.getByText("An edited turn.").count()) !== 0) {
    problems.push("the edited turn is shown before the edit");
  }
  await look("history-before-edit");
  await seek("[", "approve send_email");
  await past.getByRole("heading", { name: "Allow send_email?" }).waitFor();
  await past.locator(".park").getByText("ann@example.com").waitFor();
  if ((await past.getByRole("button", { name: "Approve" }).count()) !== 0) {
    problems.push("the past can be answered");
  }
  await look("history-question");
  const asked = Number(await slider.inputValue());
  const said = await slider.getAttribute("aria-valuetext");
  if (!said?.startsWith(`${asked} of ${last}, `) || !said.includes("waits for someone to approve send_email")) {
    problems.push(`the slider says ${said}`);
  }
  await page.waitForURL(new RegExp(`/record/${asked}$`)); // the address leads back to it
  await page.reload();
  await past.getByRole("heading", { name: "Allow send_email?" }).waitFor();
  await page.keyboard.press("End");
  await past.getByText("An edited turn.").first().waitFor();
  await page.keyboard.press("Home");
  await past.getByText("An edited turn.").first().waitFor({ state: "detached" });
  await past.locator(".turn", { hasText: first }).waitFor();

  // What is saved opens when it is dropped, with the same states.
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const exported = readFileSync(await (await download).path(), "utf8");
  const historyOf = page.url();

  // A fork goes on from a moment without the rest.
  await slider.press("End");
  await seek("[", "replaced an earlier turn");
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("button", { name: "Fork from here" }).click();
  await page.getByLabel("Message to the agent").waitFor();
  await page.locator(".turn", { hasText: attack.slice(0, 20) }).waitFor();
  if ((await page.getByText("An edited turn.").count()) !== 0) {
    problems.push("the fork has what came later");
  }
  await page.getByLabel("Message to the agent").fill("On from here.");
  await page.keyboard.press("Enter");
  await page.locator(".answer").getByText("On from here.").waitFor();
  await look("fork");
  await page.goto(historyOf.replace(/\/record.*/, ""));
  await page.locator(".answer").getByText("An edited turn.").waitFor();
  if ((await page.getByText("On from here.").count()) !== 0) {
    problems.push("the fork has changed its thread");
  }

  const transfer = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "exported.ndjson"));
    return transfer;
  }, exported);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page.locator(".tag", { hasText: "exported.ndjson" }).waitFor();
  await past.getByText("An edited turn.").first().waitFor();
  await seek("ArrowLeft", "approve send_email");
  await past.getByRole("heading", { name: "Allow send_email?" }).waitFor();
  await look("history-file");
  await page.goto(historyOf.replace(/\/record.*/, ""));

  // A reload in the middle of an answer goes on.
  await page.getByLabel("Message to the agent").fill("slow 12");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.reload();
  await page.getByText("12", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });

  // Nested runs wait too, and three more calls. One is denied in the inbox with a key.
  await start("tree", 'ask researcher to use clock and ask mailer to use send_email with {"to": "ann@example.com"}', {
    runId: "tree",
  });
  for (const n of [1, 2]) {
    await start(
      `report-${n}`,
      `use send_email with {"to": "team-${n}@example.com", "text": "The report of week ${n} is ready."}`,
    );
  }
  await page.getByRole("heading", { name: "Allow", exact: false }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.locator("body").click({ position: { x: 640, y: 20 } });
  await page.keyboard.press("i");
  await page.locator(".inbox-row").nth(2).waitFor();
  await page.keyboard.press("j");
  await look("inbox");
  await page.keyboard.press("d");
  await page.locator(".inbox-row").nth(2).waitFor({ state: "detached" });
  await page.keyboard.press("o");
  await page.getByRole("heading", { name: "At work or waiting" }).waitFor();
  await look("operations");
  await page.goto(`${address}#/operations/runs/tree`);
  await page.getByRole("heading", { name: "Calls of models" }).waitFor();
  await look("run");
  await page.goto(`${address}#/operations/jobs`);
  await page.getByLabel("State of the jobs").selectOption("delayed");
  await page.locator("td.id").first().waitFor();
  await look("jobs");

  // What starts by itself, and who is told.
  await page.goto(`${address}#/operations/schedules`);
  await page.getByText("Nothing starts by itself").waitFor();
  await page.getByRole("button", { name: "New schedule" }).click();
  await page.getByLabel("Name").fill("nightly-report");
  await page.getByLabel("Prompt").fill("The report of yesterday");
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await page.getByText("at 09:00 on Monday to Friday").waitFor();
  await look("schedule-form");
  quiet = true; // the server refuses a pattern
  await page.getByLabel("Pattern").fill("61 * * * *");
  await page.locator(".hint.bad").waitFor();
  quiet = false;
  await page.getByLabel("Pattern").fill("0 9 * * 1-5");
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { name: "nightly-report" }).waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByText("nightly-report has started a run").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.locator(".times li").nth(4).waitFor();
  await look("schedule");
  await page.goto(`${address}#/operations/schedules`);
  await page.getByRole("link", { name: "started" }).waitFor();
  await look("schedules");

  await page.goto(`${address}#/operations/webhooks`);
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByLabel("Name").fill("second");
  await page.getByLabel("URL").fill("https://hooks.example.com/spool");
  await look("webhook-form");
  quiet = true; // a server without keys refuses it
  await page.getByRole("button", { name: "Make it" }).click();
  await page.locator("dialog .problem").waitFor();
  quiet = false;
  await look("webhook-refused");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "billing" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The test was delivered: 204").waitFor();
  await start("told", "Tell the receiver");
  await page.locator("td", { hasText: "run.completed" }).first().waitFor();
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByText("billing gets no events").waitFor();
  await look("webhook");
  if ((await page.content()).includes("secret-path")) {
    problems.push("the page has the path of a webhook");
  }
  await page.goto(`${address}#/operations/webhooks`);
  await page.getByRole("link", { name: "billing" }).waitFor();
  await look("webhooks");

  // A thread of a file needs no server.
  const saved = await (await fetch(`${address}api/agent/history?threadId=report-1`)).text();
  await page.goto(`${address}#/file`);
  await page
    .getByLabel("File to read")
    .setInputFiles({ name: "report-1.json", mimeType: "application/json", buffer: Buffer.from(saved) });
  await page.getByText("report-1.json").waitFor();
  await page.getByText("The report of week 1 is ready.").first().waitFor();
  await look("file");

  // The states of nested runs, in the dark and on a phone.
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await page.goto(`${address}#/threads/tree/record`);
  await past.getByRole("heading", { name: "Allow send_email?" }).waitFor();
  await look("history-dark");
  await page.setViewportSize({ width: 390, height: 780 });
  await look("history-phone");
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByRole("list", { name: "Marked commits" }).waitFor();
  await look("history-phone-details");
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.goto(`${address}#/threads/tree`);
  await page.getByRole("heading", { name: "Allow send_email?" }).waitFor();
  await look("thread-dark");
  await page.goto(`${address}#/operations`);
  await page.getByRole("heading", { name: "At work or waiting" }).waitFor();
  await look("operations-dark");
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto(`${address}#/operations/schedules/nightly-report`);
  await page.locator(".times li").nth(4).waitFor();
  await look("schedule-phone");
  await page.goto(`${address}#/operations/webhooks/billing`);
  await page.getByRole("heading", { name: "Attempts" }).waitFor();
  await look("webhook-phone");
  await page.goto(`${address}#/inbox`);
  await page.locator(".inbox-row").first().waitFor();
  await look("inbox-phone");
  await page.goto(`${address}#/threads/tree`);
  await page.getByRole("heading", { name: "Allow send_email?" }).waitFor();
  await look("thread-phone");
  await page.goto(`${address}#/`);
  await page.getByRole("link", { name: "New thread" }).waitFor();
  await look("list-phone");

  // A server that is killed in the middle of a step, and started again: the crash, the takeover and the step that was done
  // again.
  await page.emulateMedia({ colorScheme: "light" });
  const origin = new URL(address);
  await fetch(`${address}api/agent/run`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ threadId: "crash", prompt: "slow 12" }),
  });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${address}#/threads/crash`);
  await page.locator(".answer").getByText("3", { exact: false }).first().waitFor();
  quiet = true; // the browser says that the connection is lost
  server.removeAllListeners("exit");
  server.kill("SIGKILL");
  await new Promise((resolve) => server.on("exit", resolve));
  ({ server, url } = serve(origin.port));
  await url;
  await page.locator(".thread-head [data-state=COMPLETED]").waitFor();
  quiet = false;
  await page.keyboard.press("Escape");
  await page.keyboard.press("h");
  await past.locator(".answer").waitFor();
  await page.locator(".events").getByText("was done again, and saved").waitFor();
  await seek("[", "another worker took the run over");
  await look("history-crash");
  if ((await past.locator(".answer").count()) !== 0) {
    problems.push("the step that the crash cut is shown as saved");
  }

  // The mailer's call and that of a report are approved together.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press("i");
  await page.locator(".inbox-row").nth(1).waitFor();
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("a");
  await page.getByRole("heading", { name: "Approve 2 calls?" }).waitFor();
  await look("batch");
  await page.getByRole("button", { name: "Approve all" }).click();
  await page.getByText("Nothing waits for you").waitFor();
} catch (error) {
  problems.push(error.stack ?? String(error));
} finally {
  await browser?.close();
  told.close();
  server.removeAllListeners("exit");
  server.kill("SIGTERM");
  await new Promise((resolve) => {
    server.on("exit", resolve);
    if (server.exitCode !== null) {
      resolve();
    }
  });
  rmSync(dir, { recursive: true, force: true });
}
for (const problem of problems) {
  console.error(`console: ${problem}`);
}
console.log(problems.length === 0 ? "console: all screens, without a problem" : "console: failed");
process.exit(problems.length === 0 ? 0 : 1);

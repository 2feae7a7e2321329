// A visit to a page in a browser, and what was wrong with it.
import { env } from "node:process";

import { chromium } from "playwright-core";

export const program = env.CHROMIUM || "/usr/bin/chromium";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts a browser that finds the host of an address and no other one, whatever a visit fails to see of it.
 *
 * @param {string} address
 */
export function open(address) {
  const rule = `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(address).hostname}`;
  return chromium.launch({ executablePath: program, args: [...flags, rule] });
}

/**
 * Visits a page with a profile of its own and returns the problems, in the order in which they were seen.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {{ address: string, picture: string, actions: { selector: string, text?: string }[], texts: string[], milliseconds: number }} what
 * @returns {Promise<string[]>}
 */
export async function visit(browser, { address, picture, actions, texts, milliseconds }) {
  const context = await browser.newContext({ serviceWorkers: "block", viewport: { width: 1280, height: 900 } });
  try {
    context.setDefaultTimeout(milliseconds);
    const page = await context.newPage();
    const problems = [];
    await watch(context, page, new URL(address).origin, problems);
    await look(page, { address, picture, actions, texts, problems });
    return problems;
  } finally {
    await context.close();
  }
}

async function watch(context, page, origin, problems) {
  const foreign = (address) => {
    const { protocol, origin: other } = new URL(address);
    return other !== origin && protocol !== "data:" && protocol !== "blob:";
  };
  await context.route("**/*", async (route) => {
    const address = route.request().url();
    if (foreign(address)) {
      problems.push(`asks another origin: ${address}`);
      await route.abort();
      return;
    }
    await route.continue();
  });
  page.on("websocket", (socket) => problems.push(`opens a socket: ${socket.url()}`));
  page.on("console", (message) => {
    if (message.type() === "error") {
      problems.push(`error on the console: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => problems.push(`throws: ${error.message}`));
  page.on("response", (response) => {
    if (response.status() >= 400) {
      problems.push(`is answered ${response.status()}: ${response.url()}`);
    }
  });
  page.on("requestfailed", async (request) => {
    // A page may stop reading a stream, which has no end of its own.
    const response = await request.response().catch(() => null);
    if (response?.headers()["content-type"]?.startsWith("text/event-stream") && request.failure()?.errorText === "net::ERR_ABORTED") {
      return;
    }
    problems.push(`gets no answer: ${request.url()}: ${request.failure()?.errorText}`);
  });
  // A violation that is only reported, or that happens in a try, leaves nothing else.
  await context.exposeBinding("__violated", (_, text) => problems.push(`violates its policy: ${text}`));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      window.__violated(`${event.effectiveDirective} ${event.blockedURI || event.sample}`);
    });
  });
}

async function look(page, { address, picture, actions, texts, problems }) {
  try {
    await page.goto(address, { waitUntil: "load" });
    for (const { selector, text } of actions) {
      await page.locator(selector).first().waitFor();
      if (text !== undefined) {
        await page.locator(selector).first().fill(text);
        continue;
      }
      for (const element of await page.locator(selector).all()) {
        await element.click();
      }
    }
    for (const text of texts) {
      const shown = page.getByText(text).filter({ visible: true }).first();
      await shown.waitFor().catch(() => problems.push(`does not show ${JSON.stringify(text)}`));
    }
    // What was asked for last may still be on its way.
    await page.waitForLoadState("networkidle");
  } catch (error) {
    problems.push(`cannot be looked at: ${error.message.split("\n")[0]}`);
  }
  await page.screenshot({ path: picture, fullPage: true });
}

// Opens a page of the guide in a browser: a tool of the page, a call that needs an approval, and a reload. With "cite", also a
// source, an image and a file of the model.
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)("playwright-core");

const [url, cite] = process.argv.slice(2);
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.SPOOL_TEST_CHROMIUM ?? "/usr/bin/chromium", args });
const tell = (name, more) => console.log(JSON.stringify({ name, ...more }));
try {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (err) => problems.push(err.message));
  page.on("response", (res) => res.url().includes("/api/") && !res.ok() && problems.push(`${res.status()} ${res.url()}`));
  const yes = page.getByRole("button", { name: "Yes" });
  const shows = (text) => page.getByText(text, { exact: false }).first().waitFor().then(() => true);
  const answered = () => shows('highlight answered: {"marked":"Solaris"}');
  const say = async (text) => {
    await page.locator("textarea").first().fill(text);
    await page.locator("textarea").first().press("Enter");
  };

  const opened = page.waitForResponse((res) => res.url().endsWith("/connect"));
  await page.goto(url);
  await (await opened).finished();
  await say('use highlight with {"title":"Solaris"}');
  await page.locator(".marked", { hasText: "Solaris" }).waitFor();
  tell("marked", { answered: await answered() });
  await say("use send with {}");
  await yes.waitFor();
  tell("asked", { yes: await yes.count() });
  await page.reload();
  await yes.waitFor();
  tell("reloaded", { answered: await answered(), yes: await yes.count() });
  await yes.click();
  tell("approved", { sent: await shows('send answered: "sent"').catch(() => shows("send answered: sent")), yes: await yes.count() });
  const cited = async (name) => {
    const link = page.getByRole("link", { name: "Their page" });
    const [href, rel] = [await link.getAttribute("href"), await link.getAttribute("rel")];
    const image = await page.getByRole("img", { name: "image", exact: true }).evaluate(async (img) => (await img.decode(), img.naturalWidth));
    tell(name, { href, rel, image, file: await page.getByRole("link", { name: "a.csv" }).getAttribute("download") });
    await link.scrollIntoViewIfNeeded();
    if (process.env.SPOOL_TEST_PICTURES) await page.screenshot({ path: `${process.env.SPOOL_TEST_PICTURES}/ag-ui ${name}.png` });
  };
  if (cite) {
    await say("cite");
    await cited("cited");
    await page.reload();
    await cited("cited and reloaded");
  }
  tell("problems", { problems });
} finally {
  await browser.close();
}

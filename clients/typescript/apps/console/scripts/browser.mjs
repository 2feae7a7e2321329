// The Chromium of the checks of the console.
import { join } from "node:path";
import { chromium } from "playwright-core";

/** Opens Chromium with a profile of its own in a folder. */
export function openBrowser(folder) {
  return chromium.launchPersistentContext(join(folder, "browser"), {
    executablePath: process.env.SPOOL_TEST_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    viewport: { width: 1280, height: 800 },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

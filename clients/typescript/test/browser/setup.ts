// Builds the page and the programs, and starts the browser, once for all cases.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import react from "@vitejs/plugin-react";
import { chromium } from "playwright-core";
import { build } from "vite";
import { alias } from "../../vitest.config.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
flags.push("--disable-background-networking", "--disable-component-update");

export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "spool-browser-"));
  const page = join(folder, "page");
  const binaries = here("../../node_modules/.spool/"); // a folder that stays: Go links again only what has changed
  const [browser] = await Promise.all([
    chromium.launchServer({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags }),
    buildPage(page),
    promisify(execFile)("go", ["build", "-o", binaries, "./cmd/spool", "./examples/mcpserver"], {
      cwd: here("../../../.."),
    }),
  ]);
  process.env.SPOOL_TEST_BINARIES = binaries;
  process.env.SPOOL_TEST_BROWSER = browser.wsEndpoint();
  process.env.SPOOL_TEST_FOLDER = folder;
  process.env.SPOOL_TEST_PAGE = page;
  return async () => {
    await browser.close();
    if (process.env.SPOOL_TEST_KEEP !== "1") {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** Builds the page into a folder: for development, with StrictMode and the Profiler, unless something is measured. */
async function buildPage(outDir: string): Promise<void> {
  const mode = process.env.SPOOL_TEST_MODE ?? "development";
  const { NODE_ENV } = process.env; // decides which JSX is made
  process.env.NODE_ENV = mode;
  await build({
    root: here("page"),
    configFile: false,
    logLevel: "error",
    plugins: [react()],
    resolve: {
      alias: [...alias, { find: "vite-chat", replacement: here("../../../../examples/vite-chat/src/App.tsx") }],
      dedupe: ["react"], // the example has no packages of its own here
    },
    mode,
    define: { "process.env.NODE_ENV": JSON.stringify(mode) },
    build: { outDir, emptyOutDir: true, minify: mode === "production" },
  });
  process.env.NODE_ENV = NODE_ENV;
}

// Builds the page and the programs, and starts the browser, once for all cases.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import react from "@vitejs/plugin-react";
import { chromium } from "playwright-core";
import { build, type Plugin } from "vite";
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

const chat = here("../../../../test/aisdk/Chat.tsx");

/** Parts of the page that are not in its folder. */
const elsewhere = {
  "vite-chat": here("../../../../examples/vite-chat/src/App.tsx"),
  "ag-ui-parts": here("../../../../examples/copilotkit/src/parts.tsx"),
  "ag-ui-spool-agent": here("../../../../examples/copilotkit/src/spool-agent.ts"),
  "ai-sdk-chat-6": `${chat}?6`,
  "ai-sdk-chat": chat,
};

/** Gives the component of docs/guides/ai-sdk.md the packages and the header of its version of the AI SDK. */
const versions: Plugin = {
  name: "versions of the AI SDK",
  enforce: "pre",
  resolveId(source, importer) {
    const ours = importer?.startsWith(chat) && ["ai", "@ai-sdk/react"].includes(source);
    const name = importer?.endsWith("?6") ? `${source}-6` : source;
    return ours ? this.resolve(name, here("setup.ts"), { skipSelf: true }) : null;
  },
  transform: (code, id) => (id === `${chat}?6` ? code.replace('"7" }; // or 6', '"6" };') : null),
};

/** Builds the page into a folder: for development, with StrictMode and the Profiler, unless something is measured. */
async function buildPage(outDir: string): Promise<void> {
  const mode = process.env.SPOOL_TEST_MODE ?? "development";
  const { NODE_ENV } = process.env; // decides which JSX is made
  process.env.NODE_ENV = mode;
  await build({
    root: here("page"),
    configFile: false,
    logLevel: "error",
    plugins: [versions, react()],
    resolve: {
      alias: [...alias, ...Object.entries(elsewhere).map(([find, replacement]) => ({ find, replacement }))],
      dedupe: ["react", "@ag-ui/client"], // the others have no packages of their own here
    },
    mode,
    define: { "process.env.NODE_ENV": JSON.stringify(mode) },
    build: { outDir, emptyOutDir: true, minify: mode === "production" },
  });
  process.env.NODE_ENV = NODE_ENV;
}

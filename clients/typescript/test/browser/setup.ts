// Builds the page and the server once for all cases.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import { alias } from "../../vitest.config.js";

/** Where each run leaves pictures of what the cases have shown, for people to look at. */
const pictures = fileURLToPath(new URL("pictures", import.meta.url));

export default async function setup(): Promise<() => void> {
  if (process.env.SPOOL_TEST_PICTURES === undefined) {
    rmSync(pictures, { recursive: true, force: true });
    process.env.SPOOL_TEST_PICTURES = pictures;
  }
  const folder = mkdtempSync(join(tmpdir(), "spool-browser-"));
  process.env.SPOOL_TEST_FOLDER = folder;
  const mode = process.env.SPOOL_TEST_MODE ?? "development";
  process.env.SPOOL_TEST_PAGE = join(folder, "page");
  const { NODE_ENV } = process.env; // decides which JSX is made
  process.env.NODE_ENV = mode;
  await build({
    root: fileURLToPath(new URL("page", import.meta.url)),
    configFile: false,
    logLevel: "error",
    plugins: [react()],
    resolve: { alias },
    // Development, for StrictMode and the Profiler, unless something is measured.
    mode,
    define: { "process.env.NODE_ENV": JSON.stringify(mode) },
    build: { outDir: process.env.SPOOL_TEST_PAGE, emptyOutDir: true, minify: mode === "production" },
  });
  process.env.NODE_ENV = NODE_ENV;
  if (process.env.SPOOL_TEST_BINARY === undefined) {
    process.env.SPOOL_TEST_BINARY = join(folder, "spool");
    execFileSync("go", ["build", "-o", process.env.SPOOL_TEST_BINARY, "./cmd/spool"], {
      cwd: fileURLToPath(new URL("../../../..", import.meta.url)),
      stdio: "inherit",
    });
  }
  return () => {
    if (process.env.SPOOL_TEST_KEEP !== "1") {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

// The example of an MCP server, which asks people and takes its time.
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { until } from "../gate.js";
import { freePort } from "../server.js";

/** Starts it for a test, and returns its address. */
export async function startShop(...flags: string[]): Promise<string> {
  const binary = join(process.env.SPOOL_TEST_FOLDER ?? "/tmp", "shop");
  execFileSync("go", ["build", "-o", binary, "./examples/mcpserver"], {
    cwd: fileURLToPath(new URL("../../../../..", import.meta.url)),
  });
  const at = `127.0.0.1:${await freePort()}`;
  const child = spawn(binary, ["--http", at, ...flags]);
  onTestFinished(() => void child.kill());
  await until("the shop answers", async () => (await fetch(`http://${at}`)).status > 0);
  return `http://${at}`;
}

// The example of an MCP server, which asks people and takes its time.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { until } from "../gate.js";
import { freePort } from "../server.js";

/** Starts it for a test, and returns its address. */
export async function startShop(...flags: string[]): Promise<string> {
  const at = `127.0.0.1:${await freePort()}`;
  const child = spawn(join(process.env.SPOOL_TEST_BINARIES ?? "", "mcpserver"), ["--http", at, ...flags]);
  onTestFinished(() => void child.kill());
  await until("the shop answers", async () => (await fetch(`http://${at}`)).status > 0);
  return `http://${at}`;
}

// A real "spool serve", which a test may kill and start again.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { until } from "./gate.js";

/** A server over a folder of its own. */
export class Server {
  readonly port: number;
  readonly #folder: string;
  readonly #flags: string[];
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;
  #log = "";

  private constructor(port: number, folder: string, flags: string[], env: NodeJS.ProcessEnv) {
    this.port = port;
    this.#folder = folder;
    this.#flags = flags;
    this.#env = env;
  }

  /** Starts a server with a configuration, in a folder below another one. It begins with the threads of an archive. */
  static async start(
    below: string,
    config: string,
    flags: string[] = [],
    env: NodeJS.ProcessEnv = {},
    archive?: string,
  ): Promise<Server> {
    const folder = mkdtempSync(join(below, "server-"));
    writeFileSync(join(folder, "spool.yaml"), config);
    if (archive !== undefined) {
      writeFileSync(join(folder, "archive.jsonl"), archive);
      execFileSync(binary(), ["import", "--data", "data", "archive.jsonl"], { cwd: folder, stdio: "pipe" });
    }
    const server = new Server(await freePort(), folder, flags, env);
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get log(): string {
    return this.#log;
  }

  async start(): Promise<void> {
    const args = ["serve", "--listen", `127.0.0.1:${this.port}`, "--config", "spool.yaml", "--data", "data"];
    const child = spawn(binary(), [...args, ...this.#flags], {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, HOME: this.#folder, ...this.#env },
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        this.#log += data;
      });
    }
    await until("the server answers", async () => {
      if (child.exitCode !== null) {
        throw new Error(`it has ended: ${this.#log}`);
      }
      const base = this.#flags[this.#flags.indexOf("--base-path") + 1];
      return (await fetch(`${this.url}${this.#flags.includes("--base-path") ? base : ""}/readyz`)).ok;
    });
  }

  /** Ends the process as a crash does. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill(signal);
    await ended;
  }
}

function binary(): string {
  return join(process.env.SPOOL_TEST_BINARIES ?? "", "spool");
}

/** The last port that this process has named. */
let named = 11_000 + (process.pid % 200) * 100;

/**
 * Returns a port that nobody has. It is below those that the system gives to connections, and apart from those of other
 * workers, so that a server which was killed finds it free again.
 */
export async function freePort(): Promise<number> {
  const probe = createServer();
  for (;;) {
    named++;
    const free = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false)).listen(named, "127.0.0.1", () => resolve(true));
    });
    if (free) {
      await new Promise((resolve) => probe.close(resolve));
      return named;
    }
  }
}

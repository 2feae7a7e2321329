// node scripts/check.mjs
//
// Everything that a change of the packages must pass: lint, types, tests, build, sizes, what npm would publish, and a new
// user's first projects. Sources are checked beside what is built of them. Exits with 1 at the first step that fails.
// Without npm's registry the last step is skipped, unless SPOOL_TEST_REQUIRE is 1.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { env, exit } from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "spool-clients-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

await Promise.all([sources(), built()]);

async function sources() {
  await step("lint", "biome", "check", ".");
  await step("types", "npm", "run", "types");
  await step("test", "vitest", "run");
}

async function built() {
  await step("build", "npm", "run", "build");
  await Promise.all([step("sizes", "node", "scripts/sizes.mjs"), step("pack", "node", "scripts/pack.mjs", folder)]);
  await step("install", "node", "scripts/install.mjs", folder);
}

/** Runs a program, and says what it has said if it fails. */
async function step(name, program, ...args) {
  const began = performance.now();
  const path = [join(root, "node_modules/.bin"), env.PATH].join(delimiter);
  const child = spawn(program, args, { cwd: root, env: { ...env, NO_COLOR: "1", PATH: path } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      said += data;
    });
  }
  const code = await new Promise((resolve) => child.on("close", resolve));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (code === 0) {
    console.log(`clients: ${name}: ${seconds} s`);
  } else if (name === "install" && code === 3 && env.SPOOL_TEST_REQUIRE !== "1") {
    console.log("skipped: a new user's project (npm's registry does not answer)");
  } else {
    console.error(`${said}\nclients: ${name} failed`);
    exit(1);
  }
}

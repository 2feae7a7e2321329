// node client.mjs SPEC CLIENT.ts OUTDIR [--run ARGUMENT...]
//
// Generates the types of the OpenAPI document SPEC into OUTDIR/schema.d.ts, puts CLIENT.ts
// beside them as client.ts, and compiles both with all strictness. CLIENT.ts imports the
// types from "./schema" and may import "openapi-fetch". OUTDIR is made when it is missing.
//
// With --run it then runs the compiled client with the arguments that follow, for example
// the address of a server. Exits with what failed first: 2 when called wrongly, 1 when the
// document or the client is refused, otherwise with what the client exits with.
import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { argv, execPath, exit } from "node:process";
import { fileURLToPath } from "node:url";

import openapiTS, { astToString } from "openapi-typescript";

import { parseDocument } from "./check/document.mjs";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));

// A field with a default may be left out of a request. Answers have it by "required".
const options = { defaultNonNullable: false };

const [spec, client, out, flag, ...args] = argv.slice(2);
if (out === undefined || (flag !== undefined && flag !== "--run")) {
  console.error("usage: node client.mjs SPEC CLIENT.ts OUTDIR [--run ARGUMENT...]");
  exit(2);
}
const dir = resolve(out);

await prepare();
if (run(join(modules, "typescript/bin/tsc"), "--project", dir) !== 0) {
  exit(1);
}
if (flag === "--run") {
  exit(run(join(dir, "js/client.js"), ...args));
}

async function prepare() {
  const { document, problems } = parseDocument(await readFile(spec, "utf8"));
  if (document === undefined) {
    console.error(`${spec}: ${problems[0].text}`);
    exit(1);
  }
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "schema.d.ts"), astToString(await openapiTS(document, options)));
  await cp(client, join(dir, "client.ts"));
  await writeFile(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await writeFile(join(dir, "tsconfig.json"), JSON.stringify(config(), null, 2));
  // Modules are looked for beside the file that imports them.
  await rm(join(dir, "node_modules"), { force: true });
  await symlink(modules, join(dir, "node_modules"), "dir");
}

function config() {
  return {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noFallthroughCasesInSwitch: true,
      noImplicitReturns: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      target: "es2022",
      lib: ["es2022", "dom", "dom.iterable"],
      module: "esnext",
      moduleResolution: "bundler",
      verbatimModuleSyntax: true,
      types: [],
      noEmit: flag !== "--run",
      noEmitOnError: true,
      outDir: "js",
    },
    files: ["client.ts", "schema.d.ts"],
  };
}

// run returns what a program exits with, which is 1 where a signal ended it.
function run(...program) {
  const { status, error } = spawnSync(execPath, program, { stdio: "inherit" });
  if (error !== undefined) {
    throw error;
  }
  return status ?? 1;
}

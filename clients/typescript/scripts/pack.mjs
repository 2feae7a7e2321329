// node scripts/pack.mjs FOLDER
//
// Packs the built packages into a folder, and checks what npm would publish: publint and attw have nothing to say, each
// tarball has its licence and its README, and no test is in it. Exits with 1 otherwise.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
if (argv[2] === undefined) {
  console.error("usage: node scripts/pack.mjs FOLDER");
  exit(2);
}
const folder = resolve(argv[2]);
mkdirSync(folder, { recursive: true });

const problems = (await Promise.all(["client", "react"].map(check))).flat();
for (const problem of problems) {
  console.error(problem);
}
exit(problems.length > 0 ? 1 : 0);

async function check(name) {
  const dir = join(root, "packages", name);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: dir });
  const [packed] = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m))));
  const found = [];
  const files = packed.files.map(({ path }) => path);
  for (const wanted of ["LICENSE", "README.md", "dist/index.js", "dist/index.d.ts"]) {
    if (!files.includes(wanted)) {
      found.push(`@spool/${name}: the tarball has no ${wanted}`);
    }
  }
  for (const file of files.filter((path) => /\.test|fake-store|\.map$|tsconfig/.test(path))) {
    found.push(`@spool/${name}: the tarball has ${file}`);
  }
  const tarball = join(folder, packed.filename);
  const data = readFileSync(tarball);
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: bytes } });
  found.push(...messages.map((message) => `@spool/${name}: publint: ${formatMessage(message, pkg)}`));
  try {
    await run("node_modules/.bin/attw", [tarball, "--profile", "esm-only", "--no-color", "--format", "ascii"], {
      cwd: root,
    });
  } catch (error) {
    found.push(`@spool/${name}: attw:\n${error.stdout}${error.stderr}`);
  }
  console.log(`${tarball}: ${packed.entryCount} files, ${packed.size} bytes`);
  return found;
}

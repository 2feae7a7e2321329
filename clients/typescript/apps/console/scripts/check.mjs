// Builds the console and fails if it is not what console/dist has, which is another build of it, or if it is too large.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const app = fileURLToPath(new URL("..", import.meta.url));
const committed = fileURLToPath(new URL("../../../../../console/dist", import.meta.url));

/** What a browser loads at most, compressed, in bytes. */
const limit = JSON.parse(readFileSync(join(app, "../../sizes.json"), "utf8"))["the web console"].gzipKiB * 1024;

const temporary = mkdtempSync(join(tmpdir(), "spool-console-"));
let failed = false;
const fail = (text) => {
  console.error(`console: ${text}`);
  failed = true;
};

/** The files of a folder by their paths. */
function files(dir) {
  return new Map(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .map((path) => [relative(dir, path), readFileSync(path)]),
  );
}

try {
  await build({ root: app, logLevel: "warn", build: { outDir: temporary } });
  const [built, dist] = [files(temporary), files(committed)];
  for (const path of new Set([...built.keys(), ...dist.keys()])) {
    const [one, other] = [built.get(path), dist.get(path)];
    if (one === undefined || other === undefined || !one.equals(other)) {
      fail(`${path} is not what console/dist has: run "make console" and commit it`);
    }
  }
  let size = 0;
  for (const [, content] of built) {
    size += gzipSync(content, { level: 9 }).length;
  }
  console.log(`console: ${built.size} files, ${size} bytes compressed of at most ${limit}`);
  if (size > limit) {
    fail(`${size} bytes compressed are more than ${limit}`);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

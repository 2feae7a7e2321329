// Builds the console twice and fails if the two differ, if they are not what console/dist has, or if they are too large.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

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

function build(name) {
  const out = join(temporary, name);
  execFileSync("npx", ["vite", "build", "--logLevel", "warn"], {
    cwd: app,
    stdio: "inherit",
    env: { ...process.env, SPOOL_CONSOLE_OUT: out },
  });
  return files(out);
}

function compare(a, b, text) {
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [one, other] = [a.get(path), b.get(path)];
    if (one === undefined || other === undefined || !one.equals(other)) {
      fail(`${path} ${text}`);
    }
  }
}

try {
  const first = build("first");
  compare(first, build("second"), "is another one in the second build");
  compare(first, files(committed), 'is not what console/dist has: run "make console" and commit it');
  let size = 0;
  for (const [, content] of first) {
    size += gzipSync(content, { level: 9 }).length;
  }
  console.log(`console: ${first.size} files, ${size} bytes compressed of at most ${limit}`);
  if (size > limit) {
    fail(`${size} bytes compressed are more than ${limit}`);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

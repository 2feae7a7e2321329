// node scripts/sizes.mjs [--json]
//
// Bundles what sizes.json names, from the built packages and minified, adds up the files of its folders, and compares the
// gzipped sizes with its bounds and with bench/RESULTS.md. A bound is exceeded, or that page is off by more than a
// twentieth: exits with 1. Where a goal is below the bound, that page tells it as missed. With --json, it prints the sizes
// and compares nothing.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const results = join(root, "../../bench/RESULTS.md");
const bounds = JSON.parse(readFileSync(join(root, "sizes.json"), "utf8"));
const folder = mkdtempSync(join(root, "node_modules", ".sizes-"));
const sizes = [];
try {
  for (const [name, { code, files, goalKiB, gzipKiB }] of Object.entries(bounds)) {
    const parts = code === undefined ? contents(join(root, files)) : [await bundled(code)];
    sizes.push({
      name,
      minifiedKiB: kibibytes(parts),
      gzippedKiB: kibibytes(parts.map((part) => gzipSync(part, { level: 9 }))),
      goalKiB: goalKiB ?? gzipKiB,
      boundKiB: gzipKiB,
    });
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (argv[2] === "--json") {
  console.log(JSON.stringify(sizes));
} else {
  compare();
}

function compare() {
  const text = readFileSync(results, "utf8");
  const written = new Map(
    [...text.matchAll(/^\| (.+), gzipped \| KiB \| ([\d.]+) \|/gm)].map((m) => [m[1], Number(m[2])]),
  );
  for (const { name, gzippedKiB, boundKiB } of sizes) {
    console.log(`${name}: ${gzippedKiB.toFixed(1)} KiB gzipped, at most ${boundKiB}`);
    if (gzippedKiB > boundKiB) {
      fail(`${name} has ${gzippedKiB.toFixed(2)} KiB, and its bound is ${boundKiB}`);
    }
    if (Math.abs((written.get(name) ?? 0) - gzippedKiB) > gzippedKiB / 20 + 0.05) {
      fail(
        `bench/RESULTS.md says ${written.get(name)} KiB of ${name}, which has ${gzippedKiB.toFixed(1)}: ` +
          "commit, then cd bench && GOWORK=off go run . -only sizes && GOWORK=off go run . -readme",
      );
    }
  }
}

function fail(text) {
  console.error(text);
  process.exitCode = 1;
}

function kibibytes(parts) {
  return parts.reduce((sum, part) => sum + part.length, 0) / 1024;
}

/** The contents of the files of a folder. */
function contents(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath ?? entry.path, entry.name)));
}

async function bundled(code) {
  const entry = join(folder, "entry.js");
  writeFileSync(entry, code);
  // Not a library: of those, Vite keeps the white space.
  const { output } = await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      target: "es2022",
      minify: true,
      rolldownOptions: { input: entry, preserveEntrySignatures: "strict", external: [/^react(\/|$)/] },
    },
  });
  return Buffer.concat(output.filter(({ type }) => type === "chunk").map(({ code }) => Buffer.from(code)));
}

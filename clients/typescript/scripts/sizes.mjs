// node scripts/sizes.mjs [--write]
//
// Bundles what sizes.json names, from the built packages and minified, and compares the gzipped sizes with its bounds
// and with SIZES.md. A bound is exceeded, or the page is off by more than a twentieth: exits with 1. Writes the page with
// --write.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = join(root, "SIZES.md");
const bounds = JSON.parse(readFileSync(join(root, "sizes.json"), "utf8"));
const folder = mkdtempSync(join(root, "node_modules", ".sizes-"));
const problems = [];
let text = `# Sizes

What the packages add to a page: minified, with all that they import except React. \`sizes.json\` has what is bundled, and
the bounds. \`npm run sizes -- --write\` writes this page.

| | minified | gzipped | bound |
|---|---|---|---|
`;
try {
  const written = new Map(
    [...readOr(page).matchAll(/^\| ([^|\n]+) \| [^|\n]+ \| ([\d.]+) KiB \|/gm)].map(([, name, size]) => [
      name,
      Number(size),
    ]),
  );
  for (const [name, { code, gzipKiB }] of Object.entries(bounds)) {
    const bundle = await bundled(code);
    const gzipped = gzipSync(bundle, { level: 9 }).length / 1024;
    text += `| ${name} | ${(bundle.length / 1024).toFixed(1)} KiB | ${gzipped.toFixed(1)} KiB | ${gzipKiB} KiB |\n`;
    console.log(`${name}: ${gzipped.toFixed(1)} KiB gzipped, at most ${gzipKiB}`);
    if (gzipped > gzipKiB) {
      problems.push(`${name} has ${gzipped.toFixed(2)} KiB, and its bound is ${gzipKiB}`);
    }
    if (Math.abs((written.get(name) ?? 0) - gzipped) > gzipped / 20 + 0.05) {
      problems.push(`SIZES.md says ${written.get(name)} KiB of ${name}, which has ${gzipped.toFixed(1)}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (argv[2] === "--write") {
  writeFileSync(page, text);
}
for (const problem of problems.filter((problem) => argv[2] !== "--write" || !problem.startsWith("SIZES.md"))) {
  console.error(problem);
  process.exitCode = 1;
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

function readOr(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

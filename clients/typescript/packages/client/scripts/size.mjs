// Says how large the client and the store are in a page: bundled, minified, and compressed. Fails above the limit.
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown"; // what Vite bundles with

const limit = 14.5 * 1024;

/** Returns the compressed size of a module. */
async function size(code) {
  const entry = "\0entry";
  const plugin = {
    name: "entry",
    resolveId: (id) => (id === entry ? id : null),
    load: (id) => (id === entry ? code : null),
  };
  const bundle = await rolldown({ input: entry, plugins: [plugin], preserveEntrySignatures: "strict" });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  // Chunks that are loaded only when they are wanted, such as that of tabs, do not count.
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const wanted = [output.find((chunk) => chunk.isEntry).fileName];
  for (const name of wanted) wanted.push(...chunks.get(name).imports.filter((other) => !wanted.includes(other)));
  return gzipSync(wanted.map((name) => chunks.get(name).code).join("\n"), { level: 9 }).length;
}

const from = JSON.stringify(new URL("../src/index.ts", import.meta.url).pathname);
const sizes = {
  "client and store": await size(`export { createClient, createThreadStore } from ${from}`),
  "client alone": await size(`export { createClient } from ${from}`),
  "client and reduce": await size(`export { createClient, reduce, emptyView } from ${from}`),
};
for (const [name, bytes] of Object.entries(sizes)) console.log(`${name}: ${bytes} bytes gzipped`);
if (sizes["client and store"] > limit) {
  console.error(`client and store: more than ${limit} bytes`);
  process.exit(1);
}

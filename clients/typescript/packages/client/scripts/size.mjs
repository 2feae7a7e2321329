// Says how large the client and the store are in a page: bundled, minified, and compressed. Fails above the limit.
import { gzipSync } from "node:zlib";
import { build } from "vite";

const limit = 12 * 1024;

/** Returns the compressed size of a module. */
async function size(code) {
  const entry = "\0entry";
  const plugin = {
    name: "entry",
    resolveId: (id) => (id === entry ? id : null),
    load: (id) => (id === entry ? code : null),
  };
  const { output } = await build({
    configFile: false,
    logLevel: "error",
    plugins: [plugin],
    build: {
      write: false,
      minify: true,
      target: "es2022",
      rolldownOptions: { input: entry, preserveEntrySignatures: "strict" },
    },
  });
  return gzipSync(output[0].code, { level: 9 }).length;
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

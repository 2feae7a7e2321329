import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// SPOOL_URL names the server of `npm run dev`.
const server = process.env.SPOOL_URL ?? "http://127.0.0.1:8080";

/** The packages of others in the build, whose licences want to go with them. */
const others = ["react", "react-dom", "scheduler", "marked"];

function licences(): Plugin {
  return {
    name: "licences",
    generateBundle() {
      const texts = others.map((name) => {
        const own = here(`node_modules/${name}`); // of a version that another package does not have
        const folder = existsSync(own) ? own : here(`../../node_modules/${name}`);
        const at = (file: string) => readFileSync(`${folder}/${file}`, "utf8");
        const { version } = JSON.parse(at("package.json")) as { version: string };
        const text = at("LICENSE");
        return `${name} ${version}\n\n${text.trim()}\n`;
      });
      this.emitFile({ type: "asset", name: "licences.txt", source: texts.join("\n\n") });
    },
  };
}

export default defineConfig({
  root: here("."),
  base: "./", // the page works at any path
  plugins: [react(), licences()],
  resolve: {
    alias: [
      { find: /^@spool\/client$/, replacement: here("../../packages/client/src/index.ts") },
      { find: /^@spool\/client\/admin$/, replacement: here("../../packages/client/src/admin.ts") },
      { find: /^@spool\/client\/automation$/, replacement: here("../../packages/client/src/automation.ts") },
      { find: /^@spool\/client\/record$/, replacement: here("../../packages/client/src/record/index.ts") },
      { find: /^@spool\/react$/, replacement: here("../../packages/react/src/index.ts") },
    ],
  },
  build: {
    outDir: here("../../../../console/dist"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the policy of the page allows files only
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": server, "/docs": server, "/openapi.json": server, "/readyz": server } },
});

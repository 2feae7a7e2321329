import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run on the sources, built or not.
    alias: [
      { find: /^@spool\/client\/testing$/, replacement: source("client/src/testing/index.ts") },
      { find: /^@spool\/client\/admin$/, replacement: source("client/src/admin.ts") },
      { find: /^@spool\/client$/, replacement: source("client/src/index.ts") },
      { find: /^@spool\/react$/, replacement: source("react/src/index.ts") },
    ],
  },
  test: { include: ["packages/*/src/**/*.test.{ts,tsx}", "apps/*/src/**/*.test.{ts,tsx}"] },
});

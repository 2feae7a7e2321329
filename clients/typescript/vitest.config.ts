import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

/** The packages are their sources here, built or not. */
export const alias = [
  { find: /^@spool\/client\/testing$/, replacement: source("client/src/testing/index.ts") },
  { find: /^@spool\/client\/admin$/, replacement: source("client/src/admin.ts") },
  { find: /^@spool\/client\/record$/, replacement: source("client/src/record/index.ts") },
  { find: /^@spool\/client$/, replacement: source("client/src/index.ts") },
  { find: /^@spool\/react$/, replacement: source("react/src/index.ts") },
];

export default defineConfig({
  resolve: { alias },
  test: {
    include: ["packages/*/src/**/*.test.{ts,tsx}", "apps/*/src/**/*.test.{ts,tsx}"],
    isolate: false, // files share nothing that they change, and a process for each takes as long as all tests
    testTimeout: 60_000, // of a machine that has other work
  },
});

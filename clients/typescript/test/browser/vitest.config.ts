// The cases in a real Chromium: npm run test:browser, from clients/typescript.
import { defineConfig } from "vitest/config";
import { alias } from "../../vitest.config.js";

export default defineConfig({
  resolve: { alias },
  test: {
    include: [`test/browser/**/*.${process.env.SPOOL_TEST_MODE === "production" ? "bench" : "test"}.ts{,x}`],
    globalSetup: "test/browser/setup.ts",
    // Cases kill servers and count on what the browser does meanwhile.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

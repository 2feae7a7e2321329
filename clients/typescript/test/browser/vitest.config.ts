// The cases in a real Chromium: npm run test:browser, from clients/typescript.
import { defineConfig } from "vitest/config";
import { alias } from "../../vitest.config.js";
import { patience } from "./gate.js";

export default defineConfig({
  resolve: { alias },
  test: {
    include: [`test/browser/**/*.${process.env.SPOOL_TEST_MODE === "production" ? "bench" : "test"}.ts{,x}`],
    globalSetup: "test/browser/setup.ts",
    // Cases wait for leases and pauses, so that three files share two cores. A case has a server and a browser profile of
    // its own, and needs no process of its own.
    isolate: false,
    maxWorkers: 3,
    testTimeout: 3 * patience,
    hookTimeout: patience,
    expect: { poll: { interval: 15, timeout: patience } },
  },
});

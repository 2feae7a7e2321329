import { readFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, test } from "vitest";

// `npm run generate` writes it again.
test("types.gen.ts is that of spec/openapi.json", { timeout: 60_000 }, async () => {
  const made = astToString(await openapiTS(new URL("../../../../../spec/openapi.json", import.meta.url)));
  const have = readFileSync(new URL("types.gen.ts", import.meta.url), "utf8");
  expect(have.slice(have.indexOf("*/") + 2).trim() === made.trim()).toBe(true);
});

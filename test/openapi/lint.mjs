// node lint.mjs FILE...
//
// Says what Redocly's recommended rules call an error in OpenAPI documents, one problem a line: the file, the place,
// the rule, the problem. Their warnings are matters of taste. Exits with 1 when there is any, and with 2 when it was
// called wrongly.
import { readFile } from "node:fs/promises";
import { argv, exit } from "node:process";

import redocly from "@redocly/openapi-core";

const files = argv.slice(2);
if (files.length === 0) {
  console.error("usage: node lint.mjs FILE...");
  exit(2);
}

const config = await redocly.createConfig({ extends: ["recommended"] });
let failed = false;
for (const file of files) {
  const source = await readFile(file, "utf8");
  for (const p of await redocly.lintFromString({ source, absoluteRef: file, config })) {
    if (p.severity !== "error") continue;
    console.error(`${file}: ${p.location[0]?.pointer ?? "#/"}: ${p.ruleId}: ${p.message}`);
    failed = true;
  }
}
exit(failed ? 1 : 0);

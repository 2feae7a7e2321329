// node validate.mjs FILE...
//
// Says all that is wrong with OpenAPI 3.1 documents, in JSON or YAML, one problem a line:
// the file, the place as a JSON pointer, the problem. Exits with 1 when there is any and
// with 2 when it was called wrongly.
import { readFile } from "node:fs/promises";
import { exit, argv } from "node:process";

import { parseDocument } from "./check/document.mjs";
import { problemsOf } from "./check/problems.mjs";

const files = argv.slice(2);
if (files.length === 0) {
  console.error("usage: node validate.mjs FILE...");
  exit(2);
}

let failed = false;
for (const file of files) {
  const { document, problems } = parseDocument(await readFile(file, "utf8"));
  problems.push(...(document === undefined ? [] : await problemsOf(document)));
  for (const { at, text } of problems) {
    console.error(`${file}: ${at}: ${text}`);
  }
  failed ||= problems.length > 0;
}
exit(failed ? 1 : 0);

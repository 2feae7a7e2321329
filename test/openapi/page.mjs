// node page.mjs URL OUT.png [--click SELECTOR | --fill SELECTOR=TEXT]... [--expect TEXT]... [--timeout SECONDS]
//
// Opens a page in headless Chromium, clicks on all elements of each selector and fills in the
// first one, in the order of the command line, waits for the texts, and takes a picture of the whole page. Exits with 1 when the page or
// what it loads is not answered with success, when it asks another origin for anything,
// violates its content security policy, writes an error to the console or throws one, and
// when a text does not appear within the time, 20 seconds unless told. Exits with 2 when
// called wrongly.
//
// CHROMIUM is the browser. Defaults to /usr/bin/chromium.
import { argv, env, exit } from "node:process";
import { parseArgs } from "node:util";

import { open, visit } from "./check/page.mjs";

let parsed;
try {
  parsed = parseArgs({
    args: argv.slice(2),
    allowPositionals: true,
    tokens: true,
    options: {
      click: { type: "string", multiple: true, default: [] },
      fill: { type: "string", multiple: true, default: [] },
      expect: { type: "string", multiple: true, default: [] },
      timeout: { type: "string", default: "20" },
    },
  });
} catch (error) {
  usage(error.message);
}
const { positionals, values, tokens } = parsed;
const actions = tokens.filter(({ name }) => name === "click" || name === "fill").map(({ name, value }) => {
  // A selector may have "=" in its brackets, a text may have none.
  const at = value.lastIndexOf("=");
  return name === "click" ? { selector: value } : { selector: value.slice(0, at), text: value.slice(at + 1) };
});
const [address, picture] = positionals;
const seconds = Number(values.timeout);
if (positionals.length !== 2 || !URL.canParse(address) || !(seconds > 0)) {
  usage();
}

const browser = await open(address);
const problems = await visit(browser, {
  address,
  picture,
  actions,
  texts: values.expect,
  milliseconds: seconds * 1000,
});
await browser.close();
for (const problem of problems) {
  console.error(`${address}: ${problem}`);
}
exit(problems.length > 0 ? 1 : 0);

function usage(message) {
  if (message !== undefined) {
    console.error(message);
  }
  console.error("usage: node page.mjs URL OUT.png [--click SELECTOR | --fill SELECTOR=TEXT]... [--expect TEXT]... [--timeout SECONDS]");
  exit(2);
}

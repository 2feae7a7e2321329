// node react18.mjs WORKSPACE, in a project with the tarballs and React 18.2: a page that a server renders, is taken over in
// StrictMode, streams a token, and leaves one connection.
import { createRequire } from "node:module";
import { argv } from "node:process";
import { scriptedServer, snapshotOf } from "@spool/client/testing";

const { JSDOM } = createRequire(argv[2])("jsdom");
const { window } = new JSDOM("<!doctype html><div id=root></div>", { url: "http://spool.test/" });

const { createElement, StrictMode, version } = await import("react");
const { renderToString } = await import("react-dom/server");
const { SpoolProvider, useMessage, useMessages } = await import("@spool/react");
if (!version.startsWith("18.2.")) {
  throw new Error(`this is React ${version}`);
}
const server = scriptedServer();
const said = {
  id: "m1",
  threadId: "t",
  role: "user",
  content: "Hello",
  createdAt: "2026-11-28T08:00:00Z",
  agentId: null,
};
const snapshot = snapshotOf("t", { state: "QUEUED", messages: [said] });
server.thread("t").snapshot = snapshot;

let renders = {};
const Message = ({ id }) => {
  renders[id] = (renders[id] ?? 0) + 1;
  return createElement("p", null, useMessage(id)?.text);
};
const Chat = () => useMessages().map((id) => createElement(Message, { key: id, id }));
const provider = { baseUrl: "http://spool.test", fetch: server.fetch, initialSnapshot: snapshot };
const page = createElement(SpoolProvider, provider, createElement(Chat));

const html = renderToString(page);
expect(html, "<p>Hello</p>");

const globals = { window, document: window.document, navigator: window.navigator };
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, configurable: true }); // Node has a navigator of its own
}
const { hydrateRoot } = await import("react-dom/client");
const root = window.document.getElementById("root");
root.innerHTML = html;
console.error = (...what) => {
  throw new Error(what.join(" "));
};
const hydrated = hydrateRoot(root, createElement(StrictMode, null, page));
await until(() => server.thread("t").connections === 1);
server.thread("t").start().text("Hi");
await until(() => root.textContent === "HelloHi");
renders = {};
server.thread("t").text("!");
await until(() => root.textContent === "HelloHi!");
expect(Object.keys(renders).length, 1);
expect(server.sent("GET /api/agent/stream").length, 1);
hydrated.unmount();
await until(() => server.thread("t").connections === 0);
console.log(`React ${version}: rendered, hydrated, streamed`);
process.exit(0);

function expect(got, want) {
  if (got !== want) {
    throw new Error(`got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
}

async function until(is) {
  for (const end = Date.now() + 10_000; !is(); ) {
    if (Date.now() > end) {
      throw new Error(`it did not come: ${is}\n${root.innerHTML}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

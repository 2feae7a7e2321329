// Renders the component of the guide with React in jsdom, against `spool serve` with the demo model. The server is
// killed and restarted in mid-answer: see kill_test.go. It fails with what is wrong.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";
import ts from "typescript";

const [version, server, control] = process.argv.slice(2);

const dom = new JSDOM("<!doctype html><div id=root></div>", { url: server + "/" });
Object.assign(globalThis, {
  window: dom.window, document: dom.window.document, HTMLElement: dom.window.HTMLElement, navigator: dom.window.navigator, FormData: dom.window.FormData, IS_REACT_ACT_ENVIRONMENT: false,
});

// fetch as a browser has it: with addresses of the page, and its words for a connection that breaks off.
const plain = globalThis.fetch;
globalThis.fetch = async (url, init) => {
  const res = await plain(new URL(url, server), init);
  if (!res.body) return res;
  const reader = res.body.getReader();
  const body = new ReadableStream({
    async pull(to) {
      const { value, done } = await reader.read().catch(() => Promise.reject(new TypeError("network error")));
      return done ? to.close() : to.enqueue(value);
    },
    cancel: (why) => reader.cancel(why),
  });
  return new Response(body, { status: res.status, headers: res.headers });
};

const { createRoot } = await import("react-dom/client");
const { createElement } = await import("react");
const names = { react: "react", "react/jsx-runtime": "react/jsx-runtime", "@ai-sdk/react": version === "7" ? "@ai-sdk/react" : "@ai-sdk/react-6", ai: version === "7" ? "ai" : "ai-6" };
let code = ts.transpileModule(readFileSync(new URL("Chat.tsx", import.meta.url), "utf8").replace('"7" }; // or 6', `"${version}" };`), {
  compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, jsx: ts.JsxEmit.ReactJSX },
}).outputText;
code = code.replace(/from "([^"]+)"/g, (_, name) => `from "${import.meta.resolve(names[name])}"`);
const { Chat } = await import("data:text/javascript," + encodeURIComponent(code));

const saved = async (id) => (await (await plain(`${server}/api/chat/${id}?version=${version}`)).json()).messages;
let root;
async function show(id) {
  root?.unmount();
  root = createRoot(document.getElementById("root"));
  root.render(createElement(Chat, { id, saved: await saved(id) }));
}
const page = () => [...document.querySelectorAll("article p")].map((p) => p.textContent);
const status = () => document.querySelector("output")?.textContent;

async function until(what, is) {
  for (let i = 0; i < 2000; i++) {
    if (await is()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it did not come: ${what}; the page has ${status()} ${JSON.stringify(page())}`);
}

function say(text) {
  document.querySelector("input").value = text;
  document.querySelector("form").dispatchEvent(new dom.window.Event("submit", { bubbles: true, cancelable: true }));
}

const texts = (messages) => messages.flatMap((m) => m.parts).filter((p) => p.type === "text").map((p) => p.text);

async function run() {
  await show("hook");
  await until("the page", () => status() === "ready");
  const words = Array.from({ length: 40 }, (_, i) => `w${i}`).join(" ");
  say(words);
  await until("some words", () => page().some((p) => p.includes("w3 ") && p.includes("demo model")));
  await plain(`${control}/?kill`); // returns when the server is there again
  await until("the end of the answer", () => status() === "ready" && page().at(-1).includes("w39"));
  assert.deepEqual(page(), texts(await saved("hook")), "the page and the saved messages");

  say('use send_email with {"to":"ann"}');
  await until("a question", () => document.querySelectorAll("article button").length === 2);
  await show("hook"); // a reload
  await until("the question again", () => document.querySelectorAll("article button").length === 2);
  document.querySelector("article button").click();
  await until("the answer", () => status() === "ready" && page().at(-1)?.includes("send_email answered"));
  assert.equal((await saved("hook")).length, 4);
}

try {
  await run();
  console.log("ok");
} catch (err) {
  console.log(err.stack ?? err);
  process.exitCode = 1;
}
process.exit();

// The component of the guide, rendered by React in jsdom.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";
import ts from "typescript";

export const [version, server, control] = process.argv.slice(2);

const dom = new JSDOM("<!doctype html><div id=root></div>", { url: server + "/" });
Object.assign(globalThis, {
  window: dom.window, document: dom.window.document, HTMLElement: dom.window.HTMLElement, navigator: dom.window.navigator, FormData: dom.window.FormData, IS_REACT_ACT_ENVIRONMENT: false,
});

// fetch as a browser has it: with addresses of the page, and its words for a connection that breaks off. Those are of Chrome, and
// can be those of another browser.
export const words = { broken: "network error" };
/** off: no request leaves the page. deaf: it gets no answer to its next one. */
export const network = { off: false, deaf: false, resumed: 0 };
export const plain = globalThis.fetch;
globalThis.fetch = async (url, init) => {
  if (network.off) throw new TypeError("Failed to fetch");
  const res = await plain(new URL(url, server), init);
  if (network.deaf) {
    network.deaf = false;
    await res.body?.cancel();
    throw new TypeError("Failed to fetch");
  }
  if (String(url).includes("/stream")) setTimeout(() => network.resumed++, 20);
  if (!res.body) return res;
  const reader = res.body.getReader();
  const body = new ReadableStream({
    async pull(to) {
      const { value, done } = await reader.read().catch(() => Promise.reject(new TypeError(words.broken)));
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

export const saved = async (id) => (await (await plain(`${server}/api/chat/${id}?version=${version}`)).json()).messages;
let root;
export async function show(id) {
  root?.unmount();
  root = createRoot(document.getElementById("root"));
  const { resumed } = network;
  root.render(createElement(Chat, { id, saved: await saved(id) }));
  await until("the page, and the end of its attempt to resume", () => document.querySelector("input") && network.resumed > resumed);
}
export const page = () => [...document.querySelectorAll("article p")].map((p) => p.textContent);
export const status = () => document.querySelector("output")?.textContent;

/** Plays a script, and ends the process. */
export async function play(script) {
  try {
    await script();
    console.log("ok");
  } catch (err) {
    console.log(err.stack ?? err);
    process.exitCode = 1;
  }
  process.exit();
}

/** Waits until something is true, for two minutes: machines are busy. */
export async function until(what, is) {
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    if (await is()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it did not come: ${what}; the page has ${status()} ${JSON.stringify(page())}`);
}

export function say(text) {
  document.querySelector("input").value = text;
  document.querySelector("form").dispatchEvent(new dom.window.Event("submit", { bubbles: true, cancelable: true }));
}

export const texts = (messages) => messages.flatMap((m) => m.parts).filter((p) => p.type === "text").map((p) => p.text);

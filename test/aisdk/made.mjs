// A chat that useChat makes itself, without any option but resume, whose connection breaks off. Version 7 replaces the message. Version 6
// shows its beginning twice: see docs/guides/ai-sdk.md. It fails with what is wrong, and also when version 6 has got right.
import assert from "node:assert/strict";
import { cutBehind, open, saved, server, text, until, useChat, version } from "./client.mjs";
import { JSDOM } from "jsdom";

const dom = new JSDOM("<!doctype html><div id=root></div>");
Object.assign(globalThis, { window: dom.window, document: dom.window.document, navigator: dom.window.navigator });
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const { DefaultChatTransport } = await import(version === "7" ? "ai" : "ai-6");

let cut = 5; // start, start-step, text-start and two pieces
const transport = new DefaultChatTransport({
  api: `${server}/api/chat`,
  headers: { "x-ai-sdk-version": version },
  fetch: async (url, init) => {
    const res = await fetch(url, init);
    if (init?.method !== "POST" || cut === 0) return res;
    const body = cutBehind(res.body, cut);
    cut = 0;
    return new Response(body, { headers: res.headers });
  },
});

let chat;
function Page() {
  chat = useChat({ id: "made", transport, resume: true });
  return null;
}
createRoot(document.getElementById("root")).render(createElement(Page));
const words = () => (chat.messages.at(-1)?.role === "assistant" ? text(chat.messages.at(-1)) : "");

await until("the page", () => chat?.status === "ready");
await new Promise((resolve) => setTimeout(resolve, 200)); // nothing runs: its attempt to resume has ended
void chat.sendMessage({ text: "slow made" });
await until("the break", () => chat.status === "error");
const before = words();
assert.equal(before, "One two");
void chat.resumeStream();
await until("words again", () => words().length > before.length || (version === "7" && chat.status === "streaming"));
await open("made");
await until("the end", () => chat.status === "ready");
assert.equal(text((await saved("made")).at(-1)), "One two");
assert.equal(words(), version === "7" ? "One two" : "One two|One two", "say in docs/guides/ai-sdk.md and in docs/design/0028 what is true now");
process.exit();

// The client of one version, with connections that a script can cut.
import assert from "node:assert/strict";

export const version = process.argv[2];
export const server = process.argv[3];
export const control = process.argv[4];

const react = await import(version === "7" ? "@ai-sdk/react" : "@ai-sdk/react-6");
const ai = await import(version === "7" ? "ai" : "ai-6");
export const { useChat } = react;

/** Lets the model go on that waits at a gate. */
export const open = (gate) => fetch(`${control}/?gate=${gate}`);

/** Returns a body that breaks off behind a number of events. */
export function cutBehind(body, events) {
  const reader = body.getReader();
  let left = events;
  let rest = "";
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      if (left <= 0) {
        await reader.cancel();
        await new Promise((resolve) => setTimeout(resolve, 5)); // an error drops what the client has not read
        return controller.error(new TypeError("network error"));
      }
      const { value, done } = await reader.read();
      if (done) return controller.close();
      rest += decoder.decode(value, { stream: true });
      const whole = rest.split("\n\n");
      rest = whole.pop();
      const taken = whole.slice(0, left);
      left -= taken.length;
      if (taken.length > 0) controller.enqueue(encoder.encode(taken.map((t) => t + "\n\n").join("")));
    },
  });
}

/** Whether all questions have an answer, and all calls of the page a result. */
const complete = (chat) => ai.lastAssistantMessageIsCompleteWithApprovalResponses(chat) || ai.lastAssistantMessageIsCompleteWithToolCalls(chat);

/** Returns a chat. Its connections can be cut: the next one breaks off behind chat.cut events. */
export function newChat(id, options = {}) {
  const at = options.server ?? server;
  const chat = { cut: Infinity, events: [], errors: [], ends: [], posts: 0 };
  chat.transport = new ai.DefaultChatTransport({
    api: `${at}/api/chat`,
    headers: { "x-ai-sdk-version": version, ...options.headers },
    body: options.body,
    prepareSendMessagesRequest: options.prepare,
    prepareReconnectToStreamRequest: options.strict ? undefined : ({ id }) => ({ api: `${at}/api/chat/${id}/stream?replay=last`, headers: { "x-ai-sdk-version": version } }),
    fetch: async (url, init) => {
      if (init?.method === "POST") chat.posts++;
      const res = await fetch(url, init);
      chat.status = res.status;
      if (chat.cut === Infinity || !res.body) return res;
      const body = cutBehind(res.body, chat.cut);
      chat.cut = Infinity;
      return new Response(body, { status: res.status, headers: res.headers });
    },
  });
  chat.chat = new react.Chat({
    id,
    transport: chat.transport,
    messages: options.messages,
    onData: (part) => chat.events.push(part),
    onError: (err) => chat.errors.push(err),
    onFinish: (end) => chat.ends.push(end),
    onToolCall: options.onToolCall && ((call) => options.onToolCall(chat.chat, call)),
    sendAutomaticallyWhen: options.automatic ? complete : undefined,
  });
  return chat;
}

/** Waits until something is true, for two minutes: machines are busy. */
export async function until(what, is) {
  for (const end = Date.now() + 120_000; Date.now() < end; ) {
    const got = await is();
    if (got) return got;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it did not come: ${what}`);
}

/** The saved messages of a chat. */
export async function saved(id, at = server) {
  const res = await fetch(`${at}/api/chat/${id}?version=${version}`);
  return (await res.json()).messages;
}

/** What the client shows, in a form that can be compared: without fields that only one way to the message has. */
export const shown = (messages) => plain(JSON.parse(JSON.stringify(messages)));

const unlike = new Set(["approval", "rawInput", "metadata"]);

function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const out = {};
  for (const key of Object.keys(value).sort()) {
    if (unlike.has(key) || (key === "id" && value.type === "reasoning")) continue;
    out[key] = plain(value[key]);
  }
  return out;
}

export const text = (m) => m.parts.filter((p) => p.type === "text").map((p) => p.text).join("|");

export const last = (c) => c.chat.messages.at(-1);
export const part = (c, type) => last(c).parts.find((p) => p.type === type);

/** What the client shows is what the server has saved. */
export async function same(c, id) {
  const equal = async () => JSON.stringify(shown(await saved(id))) === JSON.stringify(shown(c.chat.messages));
  await until(`the saved messages of ${id}`, equal).catch(async (err) => {
    assert.deepEqual(shown(c.chat.messages), shown(await saved(id)));
    throw err;
  });
}

/** Plays stories, one after another or at once, or only the one of the command line, and ends the process. */
export async function play(stories, atOnce = false) {
  const only = process.argv[5];
  const tell = async ([name, story]) => {
    if (only && only !== name) return;
    const began = Date.now();
    try {
      await story();
      console.log(`ok ${name} ${Date.now() - began}ms`);
    } catch (err) {
      console.log(`FAILED ${name}: ${err.stack ?? err}`);
      process.exitCode = 1;
    }
  };
  if (atOnce) await Promise.all(Object.entries(stories).map(tell));
  else for (const one of Object.entries(stories)) await tell(one);
  process.exit();
}

// CopilotKit's runtime with its stock runner, and a page's requests to it: one runs the agent, and one stops it. The
// runner then calls abortRun of its HttpAgent.
import { createRequire } from "node:module";
import { createServer } from "node:http";

const [url, folder] = process.argv.slice(2);
const require = createRequire(new URL(`${folder}/package.json`, import.meta.url));
process.env.COPILOTKIT_TELEMETRY_DISABLED = "true"; // a test tells nobody
console.error = () => {};
const { HttpAgent } = require("@ag-ui/client");
const { CopilotRuntime } = require("@copilotkit/runtime/v2");
const { createCopilotNodeListener } = require("@copilotkit/runtime/v2/node");

const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url }) } });
const server = createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" }));
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const at = (path) => `http://127.0.0.1:${server.address().port}/api/copilotkit/agent/default/${path}`;
const post = (path, body, signal) =>
  fetch(at(path), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
const state = async (threadId) => (await (await fetch(new URL(`history?threadId=${threadId}`, url))).json()).thread.state;

/** Posts a turn to the runtime, and returns when the first text is there. */
async function begin(threadId, signal) {
  const messages = [{ id: "u1", role: "user", content: "long" }];
  const input = { threadId, runId: `${threadId}-1`, messages, tools: [], context: [], state: {}, forwardedProps: {} };
  const answer = await post("run", input, signal);
  const lines = answer.body.getReader();
  const text = new TextDecoder();
  for (let all = ""; !all.includes("TEXT_MESSAGE_CONTENT"); ) {
    const { done, value } = await lines.read();
    if (done) throw new Error(`the runtime says ${answer.status} ${all}`);
    all += text.decode(value, { stream: true });
  }
}

// A page that is closed leaves the runtime at work, which reads on.
const page = new AbortController();
await begin("closed", page.signal);
page.abort();
await begin("stopped");
const { status } = await post("stop/stopped", { runId: "stopped-1" });
while ((await state("stopped")) !== "CANCELLED"); // the grace of the closed page would be over by now
console.log(JSON.stringify({ stop: status, closed: await state("closed") }));
process.exit();

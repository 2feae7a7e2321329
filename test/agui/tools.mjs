// A page with a tool of its own, a context and a thread that it shows when it opens: the stock
// HttpAgent, with the methods that the guide adds to it.
const [url, client] = process.argv.slice(2);
const { HttpAgent, runHttpRequest, transformHttpEventStream } = await import(client);
const warned = [];
console.warn = (...words) => warned.push(words.join(" "));
console.error = () => {};

// SpoolAgent is the class of docs/guides/ag-ui.md, in JavaScript.
class SpoolAgent extends HttpAgent {
  requestInit(input) {
    const spool = { onDisconnect: "continue", ...input.forwardedProps?.spool }; // the page comes back by connect
    return super.requestInit({ ...input, forwardedProps: { ...input.forwardedProps, spool } });
  }

  connect(input) {
    this.abortController = new AbortController(); // the last run's may be aborted
    return transformHttpEventStream(runHttpRequest(() => this.fetch(`${this.url}/connect`, this.requestInit(input))));
  }

  abortRun() {
    const stop = { method: "POST", headers: { ...this.headers, "Content-Type": "application/json" } };
    this.stopped = this.fetch(new URL("control", this.url), { ...stop, body: JSON.stringify({ threadId: this.threadId }) });
    super.abortRun();
  }
}

const tools = [
  {
    name: "highlight",
    description: "Marks a line of the page.",
    parameters: { type: "object", properties: { line: { type: "number" } }, required: ["line"] },
  },
];
const context = [{ description: "The open page", value: "books" }];
const ran = [];

/** Runs until the model calls no tool of the page any more, as CopilotKit and assistant-ui do. */
async function run(agent, parameters = {}) {
  for (;;) {
    const { result, newMessages } = await agent.runAgent({ tools, context, ...parameters });
    parameters = {};
    const has = (id) => agent.messages.some((m) => m.role === "tool" && m.toolCallId === id);
    const calls = newMessages.flatMap((m) => m.toolCalls ?? []).filter((c) => c.function.name === "highlight" && !has(c.id));
    if (calls.length === 0) return result;
    for (const call of calls) {
      ran.push(call.function.arguments);
      agent.addMessage({ id: `own-${call.id}`, role: "tool", toolCallId: call.id, content: "marked" });
    }
    if (agent.pendingInterrupts.length > 0) return result; // a person is asked first
  }
}

const tell = (name, agent, more) =>
  console.log(
    JSON.stringify({
      name,
      roles: agent.messages.map((m) => m.role).join(" "),
      tools: agent.messages.filter((m) => m.role === "tool").map((m) => m.content),
      waits: agent.pendingInterrupts.map((i) => i.metadata.spool.toolName),
      state: agent.state.spool?.state,
      ...more,
    }),
  );

const newAgent = (threadId) => new SpoolAgent({ url, threadId });

const agent = newAgent("page");
await agent.connectAgent();
tell("opened", agent);
agent.addMessage({ id: "u1", role: "user", content: "highlight" });
tell("ran", agent, { result: await run(agent), ran: ran.splice(0) });

const reloaded = newAgent("page");
await reloaded.connectAgent();
tell("reloaded", reloaded, { same: JSON.stringify(reloaded.messages) === JSON.stringify(agent.messages) });

agent.addMessage({ id: "u2", role: "user", content: "both" });
await run(agent);
tell("both", agent, { ran: ran.splice(0) });
const waiting = newAgent("page");
await waiting.connectAgent();
tell("reloaded while it waits", waiting);
const resume = agent.pendingInterrupts.map((i) => ({ interruptId: i.id, status: "resolved", payload: { approved: true } }));
tell("approved", agent, { result: await run(agent, { resume }), ran: ran.splice(0) });

agent.addMessage({ id: "u3", role: "user", content: "nested" });
tell("nested", agent, { result: await run(agent), ran: ran.splice(0) });

agent.addMessage({ id: "u4", role: "user", content: "long" });
await agent.runAgent({ tools }, { onTextMessageContentEvent: () => agent.abortRun() }).catch(() => {});
const stop = await agent.stopped;
// The worker may still be at the run. Those who see its end live are in stopped.mjs.
while ((await (await fetch(new URL("history?threadId=page", url))).json()).thread.state !== "CANCELLED");
await agent.connectAgent();
tell("stopped", agent, { status: stop.status });

if (warned.length > 0) console.log(JSON.stringify({ name: "warnings", warned }));

// Talks to a server with the stock HttpAgent and tells of each run as one line of JSON.
import { HttpAgent } from "@ag-ui/client";

const [url] = process.argv.slice(2);
const warned = [];
console.warn = (...words) => warned.push(words.join(" "));
console.error = () => {};

const newAgent = (threadId) => new HttpAgent({ url, threadId });

async function tell(name, agent, parameters) {
  const said = { name };
  try {
    const errors = [];
    const sources = [];
    const files = [];
    const { result } = await agent.runAgent(parameters, {
      onRunErrorEvent: ({ event }) => void errors.push(event.message),
      onCustomEvent: ({ event }) => void { SOURCE: sources, FILE: files }[event.name]?.push(event.value),
    });
    if (sources.length > 0) {
      said.sources = sources.map(({ messageId: _, ...source }) => source);
      said.ofLast = sources.every(({ messageId }) => messageId === agent.messages.at(-1).id);
    }
    if (files.length > 0) said.files = files.map((file) => [file.messageId === agent.messages.at(-1).id, file.mimeType, /^artifact:(art_[0-9a-f]+) \/api\/agent\/artifacts\/\1\?threadId=drawing$/.test(`${file.image ?? file.file} ${file.url}`)]);
    said.result = result;
    if (errors.length > 0) said.errors = errors;
  } catch (err) {
    said.failed = { message: err.message.split(":")[0], status: err.status };
  }
  const last = agent.messages.at(-1);
  said.last = last && [last.role, last.content ?? null];
  if (last?.metadata) said.metadata = JSON.parse(JSON.stringify(last.metadata).replace(/art_[0-9a-f]+/g, "art_..."));
  said.roles = agent.messages.map((m) => m.role).join(" ");
  said.waits = agent.pendingInterrupts.map((i) => [i.reason, i.metadata.spool.toolName]);
  said.state = agent.state;
  console.log(JSON.stringify(said));
}

const ask = (agent, id, content) => agent.addMessage({ id, role: "user", content });

const agent = newAgent("talk");
agent.setState({ mine: 1 });
ask(agent, "u1", "hello");
await tell("text", agent, { runId: "t1" });
ask(agent, "u2", "use send 1");
await tell("parks", agent, { runId: "t2" });
await tell("unanswered", newAgent("talk"), { runId: "t3" });
const [open] = agent.pendingInterrupts;
await tell("approved", agent, { runId: "t4", resume: [{ interruptId: open.id, status: "resolved", payload: { approved: true } }] });
await tell("hydrated", newAgent("talk"), { runId: "t5" });
await tell("stale", agent, { runId: "t6", resume: [{ interruptId: open.id, status: "resolved", payload: { approved: true } }] });
ask(agent, "u3", "use send 2");
await tell("parks again", agent, { runId: "t7" });
await tell("denied", agent, { runId: "t8", resume: [{ interruptId: agent.pendingInterrupts[0].id, status: "cancelled" }] });
agent.setMessages(agent.messages.slice(0, 1)); // the first turn, once more
await tell("again", agent, { runId: "t9" });
agent.setMessages(agent.messages.slice(0, 1)); // a run whose stream was lost
await tell("repeated", agent, { runId: "t9" });

const broken = newAgent("broken");
ask(broken, "u1", "fail");
await tell("fails", broken, { runId: "f1" });
const citing = newAgent("citing");
ask(citing, "u1", "cite");
await tell("cites", citing, { runId: "c1" });
await tell("cited", newAgent("citing"), { runId: "c2" });
const drawing = newAgent("drawing");
ask(drawing, "u1", "draw");
await tell("draws", drawing, { runId: "d1" });
await tell("drawn", newAgent("drawing"), { runId: "d2" });
await tell("nobody", newAgent("nobody"), { runId: "n1" });

if (warned.length > 0) {
  console.log(JSON.stringify({ name: "warnings", warned }));
}

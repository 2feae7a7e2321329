// Clients of 1.0 and before follow a run that somebody else stops: one has started it, and the other has opened
// the thread.
const [url, ...packages] = process.argv.slice(2);
const warned = [];
console.warn = (...words) => warned.push(words.join(" "));
console.error = () => {};

/** A client that tells when it sees the text of the run, and how the run ends. */
async function newClient(name, threadId) {
  const { HttpAgent, runHttpRequest, transformHttpEventStream } = await import(name);
  class SpoolAgent extends HttpAgent {
    connect(input) {
      return transformHttpEventStream(runHttpRequest(() => this.fetch(`${this.url}/connect`, this.requestInit(input))));
    }
  }
  const agent = new SpoolAgent({ url, threadId });
  const client = { name, agent };
  client.sees = new Promise((resolve) => {
    agent.subscribe({
      onMessagesChanged: ({ messages }) => messages.some((m) => m.role === "assistant" && m.content === "word ") && resolve(),
      onRunFinishedEvent: ({ event }) => (client.end = { outcome: event.outcome, result: event.result }),
    });
  });
  return client;
}

for (const [n, name] of packages.entries()) {
  const threadId = `stopped-${n}`;
  const clients = [await newClient(name, threadId)];
  clients[0].agent.addMessage({ id: "u1", role: "user", content: "long" });
  const ends = [clients[0].agent.runAgent()];
  await clients[0].sees;
  for (const other of packages) {
    const client = await newClient(other, threadId);
    ends.push(client.agent.connectAgent());
    clients.push(client);
  }
  await Promise.all(clients.map((client) => client.sees)); // so that the end comes live
  const stop = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ threadId }) };
  const { status } = await fetch(new URL("control", url), stop);
  const failed = (await Promise.allSettled(ends)).map((end) => end.reason?.message);
  for (const [i, { name, agent, end }] of clients.entries()) {
    const roles = agent.messages.map((m) => m.role).join(" ");
    console.log(JSON.stringify({ name, ran: i === 0, status, failed: failed[i], ...end, roles, state: agent.state.spool?.state }));
  }
}

if (warned.length > 0) console.log(JSON.stringify({ name: "warnings", warned }));

// The stock HttpAgent, of 1.0 and before, whose user stops a run: abortRun closes the connection, and does nothing
// else. After a short grace the run is stopped. With a long one, the next turn stops it.
const [soon, late, ...packages] = process.argv.slice(2);
console.error = () => {};

const threadOf = async (url, threadId) => (await fetch(new URL(`history?threadId=${threadId}`, url))).json();

for (const [n, name] of packages.entries()) {
  const { HttpAgent } = await import(name);
  const threadId = `aborted-${n}`;
  for (const url of [soon, late]) {
    const agent = new HttpAgent({ url, threadId });
    agent.addMessage({ id: "u1", role: "user", content: "long" });
    await agent.runAgent({}, { onTextMessageContentEvent: () => agent.abortRun() }).catch(() => {});
    if (url === soon) while ((await threadOf(url, threadId)).thread.state !== "CANCELLED");
    agent.addMessage({ id: "u2", role: "user", content: "and now?" });
    await agent.runAgent();
    const { runs } = await threadOf(url, threadId);
    console.log(JSON.stringify({ name, grace: url === soon ? "short" : "long", states: runs.map((r) => r.state).reverse() }));
  }
}

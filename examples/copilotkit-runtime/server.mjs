// CopilotKit's runtime in front of a Spool server: the page talks to the runtime, and the runtime to Spool.
import { createServer } from "node:http";
import { HttpAgent, runHttpRequest, transformHttpEventStream } from "@ag-ui/client";
import { AgentRunner, CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";

const spool = process.env.SPOOL_URL ?? "http://127.0.0.1:8080";
const post = (path, body, headers) =>
  fetch(`${spool}/api/agent/${path}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(body),
  });

/** Leaves threads and runs to Spool, where the runner of the package keeps them in memory. */
class SpoolRunner extends AgentRunner {
  run({ agent, input }) {
    const spool = { onDisconnect: "continue", ...input.forwardedProps?.spool }; // the page comes back by connect
    return agent.run({ ...input, forwardedProps: { ...input.forwardedProps, spool } });
  }

  connect({ threadId, headers }) {
    const input = { threadId, runId: crypto.randomUUID(), messages: [], state: {} };
    return transformHttpEventStream(runHttpRequest(() => post("ag-ui/connect", input, headers)));
  }

  async isRunning() {
    return false; // Spool refuses a second run by itself
  }

  // The package gives no headers here: a server that asks for a token needs one of this program's own, with the scope stop.
  async stop({ threadId }) {
    return (await post("control", { threadId })).ok;
  }
}

const agents = { default: new HttpAgent({ url: `${spool}/api/agent/ag-ui` }) };
const runtime = new CopilotRuntime({ agents, runner: new SpoolRunner() });
createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" })).listen(Number(process.env.PORT ?? 4000), "127.0.0.1");

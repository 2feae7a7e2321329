// The official client, fed with bodies of event streams instead of a network.
import { HttpAgent } from "@ag-ui/client";

/** What the client has warned of since the last look. It strips what it does not know with a warning. */
const warnings = [];
console.warn = (...words) => warnings.push(words.join(" "));
console.error = () => {}; // a run that fails is told by its promise

export const takeWarnings = () => warnings.splice(0);

/** The error of a connection that was cut. */
class Cut extends Error {}

// The client throws the error of a body that it lets go of once more, where nobody can catch it.
process.on("unhandledRejection", (err) => {
  if (!(err instanceof Cut)) throw err;
});

/** Returns the body of an answer: bytes, and then a cut. */
function bodyOf(bytes) {
  return new ReadableStream(
    {
      pull(controller) {
        if (bytes.length === 0) return controller.error(new Cut("cut"));
        controller.enqueue(bytes);
        bytes = new Uint8Array();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Returns a client that has nothing. */
export function newClient(threadId) {
  const client = {};
  client.agent = new HttpAgent({
    url: "http://spool.invalid/",
    threadId,
    fetch: async () =>
      new Response(bodyOf(client.bytes), { headers: { "content-type": "text/event-stream; charset=utf-8" } }),
  });
  return client;
}

/** Feeds a client with one connection, which is cut behind the bytes. Throws what its verifier says. */
export async function feed(client, bytes) {
  client.bytes = new Uint8Array(bytes);
  // A client that has interrupts only runs with answers. The answer is none of this server's concern here.
  const resume = client.agent.pendingInterrupts.map((i) => ({ interruptId: i.id, status: "cancelled" }));
  let end;
  try {
    await client.agent.runAgent(resume.length > 0 ? { resume } : {});
  } catch (err) {
    end = err;
  }
  if (!(end instanceof Cut)) throw end ?? new Error("the client did not read to the cut");
  const warned = takeWarnings();
  if (warned.length > 0) throw new Error(`the client warns: ${warned[0]}`);
}

/** What a client shows. The results of calls that ran at the same time may come in any order. */
export function shown(client) {
  const results = (all) => all.sort((a, b) => (a.id < b.id ? -1 : 1));
  const messages = [];
  let together = [];
  for (const m of client.agent.messages) {
    if (m.role === "tool") {
      together.push(m);
      continue;
    }
    messages.push(...results(together), m);
    together = [];
  }
  return JSON.stringify({
    messages: [...messages, ...results(together)].map((m) => [m.id, m.role, m.content, m.toolCalls, m.toolCallId]),
    waits: client.agent.pendingInterrupts.map((i) => i.id),
    state: client.agent.state,
  });
}

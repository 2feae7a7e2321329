// A model server that speaks OpenAI's chat completions, and does what a test says: word by word, with pauses, cuts and
// errors. It also has the endpoints of the tools, and counts what they were called for.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request to the model, as a script sees it. */
export interface Asked {
  /** The newest turn of the user: for a nested run, its instructions. */
  readonly prompt: string;
  /** How many answers the model has given since that turn. */
  readonly step: number;
  /** How often this step was asked for, from 1. */
  readonly attempt: number;
  /** The results of the tools since the turn, as texts. */
  readonly results: readonly string[];
  /** The connection is gone. */
  readonly signal: AbortSignal;
}

/** Says what the model says. */
export interface Answer {
  text(delta: string): Promise<void>;
  reasoning(delta: string): Promise<void>;
  call(id: string, name: string, args: unknown): Promise<void>;
  /** Breaks the connection. */
  cut(): never;
}

/** What the model does with a request. It ends the answer by returning. */
export type Script = (asked: Asked, answer: Answer) => Promise<void>;

/** What a tool does with its arguments. */
export type ToolScript = (args: unknown, count: number) => unknown;

class Cut extends Error {}

/** The scripted peer of a server. */
export class Model {
  script: Script = async ({ prompt }, answer) => answer.text(`You said: ${prompt}.`);
  readonly tools = new Map<string, ToolScript>();
  /** The keys of the calls of each tool. */
  readonly effects: { tool: string; key: string; args: unknown }[] = [];
  readonly errors: unknown[] = [];
  /** The steps that it was asked for, each attempt. */
  readonly asked: Asked[] = [];
  readonly #attempts = new Map<string, number>();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => {
      if (!(error instanceof Cut)) {
        this.errors.push(error);
      }
      response.destroy();
    });
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const body = JSON.parse(Buffer.concat(chunks).toString() || "null");
    const tool = /^\/tools\/(\w+)$/.exec(request.url ?? "")?.[1];
    if (tool !== undefined) {
      const key = String(request.headers["idempotency-key"]);
      this.effects.push({ tool, key, args: body });
      const result = await this.tools.get(tool)?.(body, this.effects.filter((effect) => effect.tool === tool).length);
      if (result instanceof Response) {
        const type = result.headers.get("Content-Type") ?? "text/plain";
        response.writeHead(result.status, { "Content-Type": type }).end(Buffer.from(await result.arrayBuffer()));
        return;
      }
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(result ?? { ok: true }));
      return;
    }
    await this.#answer(body, response);
  }

  async #answer(body: { messages: { role: string; content: unknown }[] }, response: ServerResponse): Promise<void> {
    const at = body.messages.findLastIndex(({ role }) => role === "user");
    const since = body.messages.slice(at + 1);
    const prompt = textOf(body.messages[at]?.content);
    const step = since.filter(({ role }) => role === "assistant").length;
    const asked = `${at} ${step} ${prompt}`;
    const attempt = (this.#attempts.get(asked) ?? 0) + 1;
    this.#attempts.set(asked, attempt);
    const gone = new AbortController();
    response.on("close", () => gone.abort());

    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta: unknown, finish: string | null = null) =>
      new Promise<void>((resolve, reject) => {
        const choices = [{ index: 0, delta, finish_reason: finish }];
        response.write(`data: ${JSON.stringify({ id: "c", model: "peer", choices })}\n\n`, (error) =>
          error ? reject(new Cut()) : resolve(),
        );
      });
    let calls = 0;
    const now = {
      prompt,
      step,
      attempt,
      results: since.filter(({ role }) => role === "tool").map(({ content }) => textOf(content)),
      signal: gone.signal,
    };
    this.asked.push(now);
    await this.script(now, {
      text: (content) => send({ content }),
      reasoning: (reasoning_content) => send({ reasoning_content }),
      call: async (id, name, args) => {
        const whole = JSON.stringify(args);
        const index = calls++;
        const half = Math.ceil(whole.length / 2);
        await send({
          tool_calls: [{ index, id, type: "function", function: { name, arguments: whole.slice(0, half) } }],
        });
        await send({ tool_calls: [{ index, function: { arguments: whole.slice(half) } }] });
      },
      cut: () => {
        throw new Cut();
      },
    });
    await send({}, calls > 0 ? "tool_calls" : "stop");
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    response.end(`data: ${JSON.stringify({ id: "c", choices: [], usage })}\n\ndata: [DONE]\n\n`);
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") {
    return content;
  }
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}

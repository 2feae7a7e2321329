// What is in front of a server: the built page, and a proxy to the server for pages of the same origin.
import { readFile } from "node:fs/promises";
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

/** What a {@link Site} does with requests to the server. */
export interface SiteOptions {
  /** The folder of the page. Empty: everything is the server's. */
  folder: string;
  /** The port of the server. */
  port: number;
  /** Knows users by the cookie "session", and has the token of each of them. */
  sessions?: Record<string, string>;
}

const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Serves the page, and what is below /api from the server. */
export class Site {
  /** Renders the page on the server, for the query of its URL, with the variables that it begins with. */
  render: ((search: string) => { html: string; data: object }) | undefined;
  readonly #options: SiteOptions;
  readonly #open = new Set<{ answer: IncomingMessage; response: ServerResponse }>();
  readonly #server = createServer((request, response) => this.#serve(request, response));

  constructor(options: SiteOptions) {
    this.#options = options;
  }

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

  /** Breaks the connections of answers that are on their way. */
  cut(): void {
    for (const { response } of this.#open) {
      response.destroy();
    }
  }

  /** Loses what those answers still bring, without a word to the page: the cable is out. */
  lose(): void {
    for (const { answer, response } of this.#open) {
      answer.unpipe(response);
      answer.resume();
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, search } = new URL(request.url ?? "/", this.url);
    if (path.startsWith("/api/") || this.#options.folder === "") {
      this.#forward(request, response);
      return;
    }
    try {
      const file = path === "/" ? "index.html" : normalize(path);
      let data: Buffer | string = await readFile(join(this.#options.folder, file));
      if (path === "/" && this.render !== undefined) {
        data = withRoot(data.toString(), this.render(search));
      }
      response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" });
      response.end(data);
    } catch {
      response.writeHead(404).end();
    }
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    const { port, sessions } = this.#options;
    const headers = { ...request.headers, host: `127.0.0.1:${port}` };
    if (sessions !== undefined && request.method !== "OPTIONS") {
      const session = /(?:^|; )session=(\w+)/.exec(request.headers.cookie ?? "")?.[1];
      delete headers.cookie;
      const token = session === undefined ? undefined : sessions[session];
      if (token !== undefined) {
        headers.authorization = `Bearer ${token}`;
      }
    }
    const upstream = ask({ port, host: "127.0.0.1", path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      const open = { answer, response };
      this.#open.add(open);
      response.on("close", () => this.#open.delete(open));
      answer.pipe(response);
      answer.on("error", () => response.destroy());
      answer.on("aborted", () => response.destroy());
    });
    upstream.on("error", () => {
      if (response.headersSent) {
        response.destroy();
      } else {
        response.writeHead(502).end("the server does not answer");
      }
    });
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  }
}

/** Returns a page with the content of its root. */
function withRoot(page: string, { html, data }: { html: string; data: object }): string {
  const variables = JSON.stringify(data).replaceAll("<", "\\u003c");
  const script = `<script>Object.assign(window, ${variables})</script>`;
  return page.replace('<div id="root"></div>', () => `<div id="root">${html}</div>${script}`);
}

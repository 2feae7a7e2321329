// The world of one case: a model, a server, a site, a browser, and another client.
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { type Client, type ClientOptions, createClient, emptyView, reduce, type ThreadState } from "@spool/client";
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { byAgent, comparable, differences, statesOf, textsOf } from "./compare.js";
import { patience, until } from "./gate.js";
import { Model } from "./model.js";
import { Server } from "./server.js";
import { Site } from "./site.js";

let connected: Promise<Browser> | undefined;

/** Returns the browser that all cases share: see setup.ts. */
export function browser(): Promise<Browser> {
  connected ??= chromium.connect(process.env.SPOOL_TEST_BROWSER ?? "");
  return connected;
}

/** Parts of a configuration that a case adds. */
export interface Setting {
  /** Further sections, which may name the origin of the page. */
  config?: string | ((origin: string) => string);
  flags?: string[];
  env?: NodeJS.ProcessEnv;
  agent?: string;
  /** Further fields of the model. */
  model?: string;
  limits?: string;
  /** Further models and agents, each a line of its map. */
  models?: readonly string[];
  agents?: readonly string[];
  sessions?: Record<string, string>;
  /** Errors that pages throw on purpose. React tells of each in the console. */
  expects?: RegExp;
  /** Threads that are there already: see `archiveOf`. */
  archive?: string;
}

/** Everything that a case has. It ends with the test. */
export class World {
  readonly model: Model;
  readonly server: Server;
  readonly site: Site;
  readonly folder: string;
  readonly #expects: RegExp | undefined;
  readonly #problems: string[] = [];
  #pictures = 0;

  private constructor(model: Model, server: Server, site: Site, folder: string, expects?: RegExp) {
    this.#expects = expects;
    this.model = model;
    this.server = server;
    this.site = site;
    this.folder = folder;
  }

  static async start(name: string, setting: Setting = {}): Promise<World> {
    const { SPOOL_TEST_FOLDER: below = "/tmp", SPOOL_TEST_PAGE: page = "" } = process.env;
    const folder = mkdtempSync(join(below, `${name}-`));
    const model = await new Model().listen();
    const { sessions } = setting;
    const options = { folder: page, port: 0, ...(sessions && { sessions }) };
    const site = await new Site(options).listen();
    const config = configOf(model, setting, site.url);
    const server = await Server.start(folder, config, setting.flags, setting.env, setting.archive);
    options.port = server.port;
    onTestFinished(async () => {
      await site.close();
      await server.kill();
      await model.close();
    });
    return new World(model, server, site, folder, setting.expects);
  }

  /** Another client of the server, such as one of a colleague. */
  other(options: ClientOptions = {}): Client {
    return createClient({ baseUrl: this.server.url, ...options });
  }

  /** Opens the page in a browser profile of its own, or in that of another tab. A screen of the console begins with "#". */
  async open(query = "", tab?: Tab): Promise<Tab> {
    const context = tab?.context ?? (await (await browser()).newContext({ viewport: { width: 800, height: 700 } }));
    if (tab === undefined) {
      onTestFinished(() => context.close());
    }
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    page.on("pageerror", (error) => this.#problems.push(String(error)));
    page.on("console", (message) => {
      // A lost connection is in the console of each browser.
      if (message.type() === "error" && !/Failed to load resource|net::ERR_/.test(message.text())) {
        this.#problems.push(message.text());
      }
    });
    await page.goto(`${query.startsWith("#") ? this.server.url : this.site.url}/${query}`);
    await page.waitForSelector("main", { state: "attached" });
    return new Tab(this, context, page, await context.newCDPSession(page));
  }

  /** Expects that no page has thrown or warned, and that the model's scripts have not failed. */
  untroubled(): void {
    expect(this.#problems.filter((problem) => !this.#expects?.test(problem))).toEqual([]);
    expect(this.model.errors).toEqual([]);
  }

  nextPicture(name: string): string | undefined {
    const pictures = process.env.SPOOL_TEST_PICTURES;
    if (pictures === undefined) {
      return undefined;
    }
    mkdirSync(pictures, { recursive: true });
    this.#pictures++;
    return join(pictures, `${this.folder.split("/").at(-1)?.replace(/-\w+$/, "")}-${this.#pictures}-${name}.png`);
  }
}

/** A page that is open. */
export class Tab {
  constructor(
    readonly world: World,
    readonly context: BrowserContext,
    readonly page: Page,
    readonly devtools: CDPSession,
  ) {}

  async send(prompt: string): Promise<void> {
    await this.page.fill("textarea", prompt);
    await this.page.click("text=Send");
  }

  async click(selector: string): Promise<void> {
    await this.page.click(selector);
  }

  /**
   * Cuts the network of this page: `cut` breaks its connections, `lost` leaves them open with nothing in them. A browser
   * that is told to be offline refuses new requests, and keeps those that it has.
   */
  async offline(how: "cut" | "lost"): Promise<void> {
    await this.#network(true);
    how === "cut" ? this.world.site.cut() : this.world.site.lose();
  }

  async online(): Promise<void> {
    await this.#network(false);
  }

  async #network(offline: boolean): Promise<void> {
    await this.devtools.send("Network.enable");
    const none = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await this.devtools.send("Network.emulateNetworkConditions", { offline, ...none });
  }

  async state(): Promise<ThreadState> {
    const text = await this.page.evaluate(() =>
      JSON.stringify((window as unknown as { spool: { getSnapshot(): ThreadState } }).spool.getSnapshot()),
    );
    return JSON.parse(text) as ThreadState;
  }

  /** How often each message has rendered. */
  renders(): Promise<Record<string, number>> {
    return this.page.evaluate(() => ({ ...(window as unknown as { renders: Record<string, number> }).renders }));
  }

  /** The id of the thread that is shown. */
  async thread(): Promise<string> {
    return until("the page has a thread", async () => (await this.state()).threadId);
  }

  /** The texts of the messages on the screen in their order, for each agent. */
  async said(): Promise<Record<string, string[]>> {
    return byAgent(
      await this.page.$$eval("main article", (articles) =>
        articles.map((article) => ({
          agent: article.getAttribute("data-agent") ?? "",
          text: [...article.querySelectorAll(":scope > .text")].map((text) => text.textContent).join(""),
        })),
      ),
    );
  }

  /** The texts of the user and of the run's own agent on the screen, in order. */
  async texts(): Promise<string[]> {
    return (await this.said())[""] ?? [];
  }

  shows(text: string): Promise<unknown> {
    const shown = async () => (await this.texts()).some((shown) => shown.includes(text));
    return until(`the page shows ${text}`, shown);
  }

  async phase(phase: string): Promise<void> {
    await this.page.waitForSelector(`#phase[data-phase="${phase}"]`);
  }

  /** Notes each text that the page draws of the answer to the last turn, from now on. */
  async watch(): Promise<() => Promise<string[]>> {
    await this.page.evaluate(() => {
      const said: string[] = [];
      Object.assign(window, { said });
      const look = () => {
        const text = document.querySelector("main > article:last-child[data-role=assistant]")?.textContent ?? "";
        if (text !== said.at(-1)) {
          said.push(text);
        }
        requestAnimationFrame(look);
      };
      look();
    });
    return () => this.page.evaluate(() => (window as unknown as { said: string[] }).said);
  }

  /** Takes a picture for people to look at, in the folder of SPOOL_TEST_PICTURES. */
  async picture(name: string): Promise<void> {
    const path = this.world.nextPicture(name);
    if (path !== undefined) {
      await this.page.screenshot({ path, fullPage: true });
    }
  }

  /**
   * Expects that the page shows the thread as it is: the store's view is the one of a fresh snapshot, and the text of
   * each message on the screen is that of the view, those of nested runs included. Of a page that shows the last messages
   * only, it is those.
   */
  async isTrue(client: Client = this.world.other(), last = Number.POSITIVE_INFINITY): Promise<void> {
    await until("the page shows what a fresh snapshot has", async () => {
      const state = await this.state();
      const snapshot = await client.history(state.threadId ?? "");
      const [shown, saved] = comparable(state.view, reduce(emptyView, snapshot));
      expect(differences(shown, saved).slice(0, 20)).toEqual([]);
      expect(differences(...statesOf(state.view, snapshot))).toEqual([]);
      expect(state.turns).toEqual([]);
      const { "": own = [], ...nested } = textsOf(state);
      expect(await this.said()).toEqual({ ...nested, ...(own.length > 0 && { "": own.slice(-last) }) });
      return true;
    });
    this.world.untroubled();
  }
}

function configOf(
  model: Model,
  { config = "", agent = "", model: fields = "", limits = "", models = [], agents = [] }: Setting,
  origin: string,
): string {
  return `
models:
  peer: {provider: openai, base_url: "${model.url}/v1", model: peer, ${fields}}
${models.join("\n")}
tools:
  look: {type: http, url: "${model.url}/tools/look", idempotent: true, max_result_bytes: 16000000, parameters: {type: object}}
  pay: {type: http, url: "${model.url}/tools/pay", parameters: {type: object}}
  send_email:
    {type: http, url: "${model.url}/tools/send_email", approval: true, parameters: {type: object, properties: {to: {type: string}}}}
agents:
  assistant:
    model: peer
    tools: [look, pay, send_email]
    subagents:
      mailer: {description: Writes emails, tools: [send_email]}
    ${agent}
${agents.join("\n")}
limits: {${limits.includes("retry_backoff") ? "" : "retry_backoff: 200ms, "}stream_flush: 5ms, lease: 6s, ${limits}}
${typeof config === "string" ? config : config(origin)}
`;
}

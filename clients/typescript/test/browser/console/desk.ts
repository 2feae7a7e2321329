// The console of a server, as its users see it. It notes what should never happen: an error, a breach of the page's
// policy, a request to another server, a serious finding of axe.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { patience } from "../gate.js";
import { browser, type World } from "../world.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string | null;
  help: string;
  nodes: { html: string }[];
}

/** How a desk is opened. */
export interface DeskOptions {
  /** The address of the console. The default is that of the server. */
  at?: string;
  cookies?: { name: string; value: string }[];
}

/** A console in a profile of its own. */
export class Desk {
  readonly #problems: string[] = [];
  readonly #expected: RegExp[] = [];

  private constructor(
    readonly world: World,
    readonly page: Page,
    readonly at: string,
  ) {}

  /** Opens a screen, such as "#/inbox". */
  static async open(
    world: World,
    screen = "",
    { at = world.server.url, cookies = [] }: DeskOptions = {},
  ): Promise<Desk> {
    const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 } });
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: at, httpOnly: true })));
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    const desk = new Desk(world, page, at);
    onTestFinished(async ({ task }) => {
      if (task.result?.state === "fail") {
        console.error(
          [...desk.#problems, await page.locator("body").innerText(), world.server.log.slice(-4000)].join("\n"),
        );
      }
      await context.close();
    });
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") {
        desk.#note(message.text());
      }
    });
    page.on("pageerror", (error) => desk.#note(error.stack ?? String(error)));
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== "data:" && origin !== new URL(at).origin) {
        desk.#note(`the page asks another server: ${request.url()}`);
      }
    });
    context.on("page", (other) => {
      desk.#note(`another page opens: ${other.url()}`);
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    await page.goto(`${at}/${screen}`);
    return desk;
  }

  /** Says that the console of the browser may have a text, such as that of a refused request. */
  expects(text: RegExp): void {
    this.#expected.push(text);
  }

  async go(screen: string): Promise<void> {
    await this.page.goto(`${this.at}/${screen}`);
  }

  heading(name: string | RegExp): Locator {
    return this.page.getByRole("heading", { name });
  }

  button(name: string): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** The question of a thread, or of the inbox. */
  get question(): Locator {
    return this.page.locator(".park");
  }

  get field(): Locator {
    return this.page.getByLabel("Message to the agent");
  }

  async send(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press("Enter");
  }

  /** Waits for the sentence that says why a run waits, or how it ended. */
  async says(why: string | RegExp): Promise<void> {
    await this.page.locator(".why").getByText(why).waitFor();
  }

  /** Looks at the screen: axe, in light and in dark, and at the width of a phone. */
  async look(name: string): Promise<void> {
    // What the theme and the width cannot change is looked at once.
    for (const [view, scheme, width, rules] of [
      ["light", "light", 1280, {}],
      ["dark", "dark", 1280, { runOnly: ["color-contrast"] }],
      ["phone", "light", 390, { rules: { "color-contrast": { enabled: false } } }],
    ] as const) {
      await this.page.emulateMedia({ colorScheme: scheme });
      await this.page.setViewportSize({ width, height: 800 });
      await this.#examine(`${name}, ${view}`, rules);
      if (process.env.SPOOL_TEST_PICTURES !== undefined) {
        mkdirSync(process.env.SPOOL_TEST_PICTURES, { recursive: true });
        await this.page.screenshot({ path: join(process.env.SPOOL_TEST_PICTURES, `console-${name}-${view}.png`) });
      }
    }
    await this.page.setViewportSize({ width: 1280, height: 800 });
  }

  async #examine(name: string, rules: object): Promise<void> {
    if (!(await this.page.evaluate(() => "axe" in globalThis))) {
      await this.page.evaluate(axe); // by the debugger, which the page's policy does not bind
    }
    const { violations } = await this.page.evaluate(
      (rules) =>
        (
          globalThis as unknown as { axe: { run(at: Document, how: unknown): Promise<{ violations: Violation[] }> } }
        ).axe.run(document, { resultTypes: ["violations"], ...rules }),
      rules,
    );
    for (const { id, impact, help, nodes } of violations) {
      if (impact === "serious" || impact === "critical") {
        this.#note(`axe, ${name}: ${id}: ${help}\n  ${nodes.map(({ html }) => html).join("\n  ")}`);
      }
    }
  }

  /** Expects that nothing was noted. */
  untroubled(): void {
    expect(this.#problems.filter((problem) => !this.#expected.some((text) => text.test(problem)))).toEqual([]);
    expect(this.world.model.errors).toEqual([]);
  }

  #note(problem: string): void {
    this.#problems.push(problem);
  }
}

// What a page does while something happens, counted and not timed: a busy machine does not make it more.
import type { Tab } from "./world.js";

export interface Effort {
  /** How often blocks of the page's scripts have run: functions, branches and the bodies of loops. */
  readonly blocks: number;
  /** The characters that were read and written as JSON. */
  readonly json: number;
  /** The most elements that came to the document at once. */
  readonly elements: number;
  /** The most characters of text that came to the document at once. */
  readonly characters: number;
}

type Counted = Omit<Effort, "blocks">;

/** Counts what a page does while something happens. */
export async function effortOf(tab: Tab, during: () => Promise<void>): Promise<Effort> {
  await tab.page.evaluate(count);
  await tab.devtools.send("Profiler.enable");
  await tab.devtools.send("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  await during();
  const { result } = await tab.devtools.send("Profiler.takePreciseCoverage");
  await tab.devtools.send("Profiler.stopPreciseCoverage");
  const counted = await tab.page.evaluate(() => (window as unknown as { counted: Counted }).counted);
  const own = result.filter(({ url }) => url.startsWith("http")); // the others are of the test itself
  const ranges = own.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
  return { blocks: ranges.reduce((sum, { count }) => sum + count, 0), ...counted };
}

/** Makes a page count, from zero. */
function count(): void {
  const page = window as unknown as { counted?: { -readonly [name in keyof Counted]: number } };
  if (page.counted !== undefined) {
    Object.assign(page.counted, { json: 0, elements: 0, characters: 0 });
    return;
  }
  const counted = { json: 0, elements: 0, characters: 0 };
  page.counted = counted;
  const { parse, stringify } = JSON;
  JSON.parse = (text: string, ...rest) => {
    counted.json += text.length;
    return parse(text, ...rest);
  };
  JSON.stringify = ((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args);
    counted.json += text?.length ?? 0;
    return text;
  }) as typeof stringify;
  const { json } = Response.prototype;
  Response.prototype.json = async function () {
    counted.json += (await this.clone().text()).length;
    return json.call(this);
  };
  new MutationObserver((changes) => {
    let elements = 0;
    let characters = 0;
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      elements += node instanceof Element ? 1 + node.querySelectorAll("*").length : 0;
      characters += node.textContent?.length ?? 0;
    }
    counted.elements = Math.max(counted.elements, elements);
    counted.characters = Math.max(counted.characters, characters);
  }).observe(document, { subtree: true, childList: true });
}

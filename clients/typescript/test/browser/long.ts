// Two cases of long threads and large results, for a test that counts what the page does and a measurement that takes
// its time.
import { emptyView, reduce } from "@spool/client";
import { expect } from "vitest";
import { archiveOf, type Written } from "./archive.js";
import { textsOf } from "./compare.js";
import { play, Tape } from "./tape.js";
import { type Tab, World } from "./world.js";

/** The turns of the long thread: 2,000 messages, and 10,000 in the long tier. */
export const turns = process.env.SPOOL_TEST_LONG === "1" ? 2500 : 500;
const newest = `.messages [data-id="msg_${4 * turns}"]`;

/** Something that a person does, or that comes. */
export type Act = "an answer begins" | "a word comes" | "scrolling to the beginning" | "10 MB come" | "10 MB are read";

/** Looks at what a page does during an act. */
export type Look = (tab: Tab, act: Act, during: () => Promise<void>) => Promise<void>;

/** A long thread. Each turn has a call, its result and an answer. */
function longThread(): Written[] {
  return Array.from({ length: turns }, (_, i): Written[] => {
    const call = { toolCallId: `c${i}`, toolName: "look" };
    const asks = { type: "tool-call", ...call, args: { i } };
    return [
      { role: "user", content: `Question ${i}` },
      { role: "assistant", content: [{ type: "text", text: `I look at ${i}.` }, asks] },
      { role: "tool", content: [{ type: "tool-result", ...call, result: { found: i } }] },
      { role: "assistant", content: `Answer ${i}.` },
    ];
  }).flat();
}

/** What the console has on the screen: the messages with their texts, and how many elements there are. */
async function consoleOf(tab: Tab) {
  return tab.page.evaluate(() => ({
    messages: [...document.querySelectorAll<HTMLElement>(".messages article[data-id]")].map((article) => ({
      id: article.dataset.id ?? "",
      text: [...article.querySelectorAll(":scope > p, :scope > .md p")].map((text) => text.textContent).join(""),
    })),
    elements: document.querySelectorAll("*").length,
  }));
}

/** A long thread goes on, and somebody scrolls from its end to its beginning. */
export async function longThreadGoesOn(look: Look): Promise<void> {
  const world = await World.start("long", { archive: archiveOf("long", longThread()) });
  const tape = new Tape().say("One");
  world.model.script = play({ more: [tape] });

  const tab = await world.open("?threadId=long&last=300");
  await tab.shows(`Answer ${turns - 1}.`);
  expect((await tab.state()).view.messages).toHaveLength(4 * turns);
  await tab.isTrue(undefined, 300);
  await tab.picture("end");
  await look(tab, "an answer begins", async () => {
    await tab.send("more");
    await tab.shows("One");
  });
  for (const word of [" two", " three"]) {
    await look(tab, "a word comes", async () => {
      tape.say(word);
      await tab.shows(word);
    });
  }
  tape.end();
  await tab.phase("completed");
  await tab.isTrue(undefined, 300);
  await tab.page.close();

  const seat = await world.open("#/threads/long");
  await seat.page.waitForSelector(newest);
  const seen = { messages: 0, elements: 0 };
  await look(seat, "scrolling to the beginning", async () => {
    for (let first: string | undefined; first !== "msg_1"; ) {
      // As somebody who pulls the bar to the top again and again, and waits there.
      const before = first ?? "";
      const now = await seat.page.waitForFunction((before) => {
        const box = document.querySelector(".messages") as HTMLElement;
        const shown = box.querySelectorAll<HTMLElement>("article[data-id]");
        const first = shown[0]?.dataset.id;
        if (first === before) {
          return null;
        }
        box.scrollTop = 0;
        return { first, messages: shown.length, elements: document.querySelectorAll("*").length };
      }, before);
      const { first: at, messages, elements } = (await now.jsonValue()) ?? { messages: 0, elements: 0 };
      first = at;
      seen.messages = Math.max(seen.messages, messages);
      seen.elements = Math.max(seen.elements, elements);
    }
  });
  expect(seen.messages).toBe(200); // the page does not grow with the thread
  expect(seen.elements).toBeLessThan(5_000);
  const fresh = reduce(emptyView, await world.other().history("long"));
  const saved = textsOf({ messages: fresh.messages, view: fresh })[""];
  const shown = (await consoleOf(seat)).messages.map(({ text }) => text);
  expect(shown).toEqual(saved?.slice(0, 200));
  await seat.picture("beginning");
  await seat.click("text=To the newest");
  await seat.page.waitForSelector(newest);
  expect((await consoleOf(seat)).messages.map(({ text }) => text)).toEqual(saved?.slice(-200));
  world.untroubled();
}

/** A result of 10 MB is shown by its beginning, and somebody reads on in it. */
export async function largeResultComes(look: Look): Promise<void> {
  const line = "a line of a large result, which goes on for a while, and then ends";
  const large = Array.from({ length: 150_000 }, (_, i) => `${i} ${line}`).join("\n");
  expect(large.length).toBeGreaterThan(10_000_000);
  const world = await World.start("large", { limits: "max_step_bytes: 16777216" });
  world.model.tools.set("look", () => large);
  world.model.script = play({ look: [new Tape().call("c1", "look", {}).end(), new Tape().say("That is much.").end()] });
  const tab = await world.open();
  await look(tab, "10 MB come", async () => {
    await tab.send("look");
    await tab.shows("That is much.");
  });
  await tab.phase("completed");
  await tab.isTrue();
  const [call] = (await tab.state()).view.messages.filter(({ role }) => role === "tool");
  expect(JSON.stringify(call?.content).length).toBeGreaterThan(10_000_000);
  await tab.picture("result");

  const seat = await world.open(`#/threads/${await tab.thread()}`);
  await seat.page.waitForSelector('.call[data-state="done"]');
  await look(seat, "10 MB are read", async () => {
    await seat.click(".call-line");
    await seat.page.waitForSelector(".value pre >> nth=1");
    for (let i = 0; i < 4; i++) {
      await seat.click("text=Show more");
      await seat.page.evaluate(() => {
        const box = document.querySelectorAll(".value .code")[1] as HTMLElement;
        box.scrollTop = box.scrollHeight;
      });
    }
  });
  const text = await seat.page.locator(".value pre").nth(1).textContent();
  expect(text).toBe(large.split("\n").slice(0, 3200).join("\n"));
  expect((await consoleOf(seat)).elements).toBeLessThan(1_000);
  await seat.picture("console");
  world.untroubled();
}

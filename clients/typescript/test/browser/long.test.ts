// Long threads and large results: the page shows them, and a person can use it meanwhile. What the page has to do is
// counted here. "npm run bench:long" takes its time.
import { expect, test } from "vitest";
import { type Effort, effortOf } from "./effort.js";
import { type Act, type Look, largeResultComes, longThreadGoesOn, turns } from "./long.js";

/**
 * What a page may do during an act: about twice what it does. An answer costs the same in a thread of any length. A large
 * result is parsed once, and no second text of it is made.
 */
const bounds: Record<Act, Effort> = {
  "an answer begins": { blocks: 160_000, json: 5_000, elements: 8, characters: 100 },
  "a word comes": { blocks: 60_000, json: 500, elements: 5, characters: 100 },
  "scrolling to the beginning": { blocks: 800 * turns, json: 4_000 * turns, elements: 1_300, characters: 6_000 },
  "10 MB come": { blocks: 70_000, json: 12_000_000, elements: 10, characters: 4_100 },
  "10 MB are read": { blocks: 400_000, json: 3_000, elements: 50, characters: 30_000 },
};

const counting: Look = async (tab, act, during) => {
  const before = await tab.renders();
  const effort = await effortOf(tab, during);
  const over = Object.entries(effort).filter(([name, count]) => count > bounds[act][name as keyof Effort]);
  expect(Object.fromEntries(over), `${act}: ${JSON.stringify(effort)}`).toEqual({});
  const after = await tab.renders();
  const rendered = Object.keys(after).filter((id) => after[id] !== before[id]);
  if (act === "an answer begins") {
    expect(rendered.filter((id) => id in before)).toEqual([]); // only what is new renders
  } else if (act === "a word comes") {
    expect(rendered).toHaveLength(1);
  }
};

test("a long thread goes on, and scrolls from its end to its beginning", () => longThreadGoesOn(counting));

test("a result of 10 MB is shown by its beginning, and scrolls", () => largeResultComes(counting));

import { expect, test } from "vitest";
import fixtures from "../../../../../../spec/fixtures/ends.json?raw";
import { earlyEnd, earlyEnds } from "./end.js";

test("the console gives the reasons that the terminal gives", () => {
  expect(earlyEnds).toEqual(JSON.parse(fixtures).ends);
  expect(earlyEnd("max_steps")).toBe("it took as many steps as it may");
  expect(earlyEnd("a_new_one")).toBe("a_new_one");
  expect([earlyEnd("completed"), earlyEnd(undefined)]).toEqual([null, null]);
});

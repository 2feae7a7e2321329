// The component of the guide, against `spool serve` with the demo model. The server is killed or told to end in
// mid-answer, and starts again: see kill_test.go. It fails with what is wrong.
import assert from "node:assert/strict";
import { control, page, plain, play, saved, say, show, status, texts, until, words } from "./page.mjs";

await play(async () => {
  for (const [how, broken] of [["kill", "network error"], ["end", "Error in input stream"]]) { // as Chrome has it, and Firefox
    words.broken = broken;
    await show(how);
    say(Array.from({ length: 40 }, (_, i) => `w${i}`).join(" "));
    await until("some words", () => page().some((p) => p.includes("w3 ") && p.includes("demo model")));
    await plain(`${control}/?how=${how}`); // returns when the server is there again
    await until("the end of the answer", () => status() === "ready" && page().at(-1).includes("w39"));
    assert.deepEqual(page(), texts(await saved(how)), "the page and the saved messages");
  }
  await show("hook");
  say('use send_email with {"to":"ann"}');
  await until("a question", () => document.querySelectorAll("article button").length === 2);
  await show("hook"); // a reload
  await until("the question again", () => document.querySelectorAll("article button").length === 2);
  document.querySelector("article button").click();
  await until("the answer", () => status() === "ready" && page().at(-1)?.includes("send_email answered"));
  assert.equal((await saved("hook")).length, 2);
});

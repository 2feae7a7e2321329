// The component of the guide after runs that failed or were stopped, and after messages that were sent without a connection:
// it shows what the server has saved, and so what it would show after a reload. It fails with what is wrong.
import assert from "node:assert/strict";
import { control, network, page, plain, play, saved, say, show, status, texts, until } from "./page.mjs";

await play(async () => {
  for (const script of ["refused", "fail"]) {
    await show(script);
    say(`${script} ${script}`);
    if (script === "refused") {
      await until("the second attempt", () => page().at(-1) === "Bye");
      await plain(`${control}/?gate=refused`);
    }
    await until("the failure", () => status() === "error");
    await until("what is saved", async () => JSON.stringify(page()) === JSON.stringify(texts(await saved(script))));
    assert.ok(!page().includes("Bye"), String(page()));
  }
  await show("stopped");
  say("slow stopped");
  await until("words", () => page().at(-1) === "One two");
  document.querySelector("button[type=button]").click();
  await until("the end", () => status() === "ready");
  await until("what is saved", async () => JSON.stringify(page()) === JSON.stringify(texts(await saved("stopped"))));
  say("text");
  await until("the next answer", () => status() === "ready" && page().at(-1) === "Hello to you.");
  assert.deepEqual(page(), texts(await saved("stopped")));

  await show("offline");
  for (let turn = 1; turn <= 3; turn++) {
    if (turn === 3) network.deaf = true; // the server has the message, and the page does not know
    else network.off = true;
    say("text");
    await until("the failure", () => status() === "error");
    network.off = false;
    await until("the answer", () => status() === "ready" && page().length === 2 * turn && page().at(-1) === "Hello to you.");
    assert.deepEqual(page(), texts(await saved("offline")));
  }
});

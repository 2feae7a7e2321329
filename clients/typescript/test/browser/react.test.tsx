// What React may do with a page: render it on a server, and go on when a part of it has failed.
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { until } from "./gate.js";
import { Page } from "./page/page.js";
import { play, Tape } from "./tape.js";
import { World } from "./world.js";

test("a page that a server has rendered goes on in the browser", async () => {
  const world = await World.start("rendered");
  const other = world.other();
  const tape = new Tape().say("I write.").call("c1", "send_email", { to: "ann@example.com" }).end();
  const after = new Tape().say("Sent,");
  world.model.script = play({ write: [tape, after] });
  await other.run({ threadId: "t", prompt: "write" });
  const snapshot = await until("the call waits", async () => {
    const now = await other.history("t");
    return now.thread.state === "WAITING_FOR_INPUT" ? now : undefined;
  });
  world.site.render = (search) => ({
    html: renderToString(<Page search={search} snapshot={snapshot} />),
    data: { snapshot },
  });

  // Somebody answers before the page is there, so it begins with a state that is over.
  expect(await other.respond("t", { toolCallId: "c1", approved: true })).toMatchObject({ delivered: true });
  const plain = await (await fetch(`${world.site.url}/?threadId=t`)).text();
  expect(plain).toContain("I write.");
  expect(plain).toContain("Waiting for an answer: send_email");
  const tab = await world.open("?threadId=t");
  await tab.shows("Sent,");
  await tab.isTrue(); // React has warned of nothing
  await tab.picture("goes on");
  after.say(" and done").end();
  await tab.phase("completed");
  await tab.isTrue();
  expect(await tab.texts()).toEqual(["write", "I write.", "Sent, and done"]);
});

test("a selector that throws breaks its component alone", async () => {
  const world = await World.start("broken", { expects: /the selector is broken/ });
  const tape = new Tape().say("One");
  world.model.script = play({ break: [tape] });
  const tab = await world.open("?broken");
  await tab.send("hello");
  await tab.shows("You said: hello.");
  await tab.phase("completed");
  expect(await tab.page.textContent("#count")).toBe("2");
  await tab.send("break");
  await tab.page.waitForSelector("#broken");
  await tab.shows("One");
  await tab.isTrue();
  tape.say(" two").end();
  await tab.phase("completed");
  await tab.isTrue();
  await tab.picture("broken");
  expect(await tab.texts()).toEqual(["hello", "You said: hello.", "break", "One two"]);
});

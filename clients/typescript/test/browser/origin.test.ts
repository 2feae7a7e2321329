// Pages of another origin than the server's, with tokens and with cookies.
import { expect, onTestFinished, test } from "vitest";
import { Site } from "./site.js";
import { play, Tape } from "./tape.js";
import { World } from "./world.js";

const token = "a-token-for-the-tests-of-pages";

test("a page of another origin, with a token", async () => {
  const world = await World.start("origin", { env: { SPOOL_TOKEN: token, SPOOL_CORS_ORIGIN: "*" } });
  const other = world.other({ token });
  world.model.script = play({ write: [new Tape().say("I write.").call("c1", "send_email", {}).end()] });
  const tab = await world.open(`?api=${encodeURIComponent(world.server.url)}&token=${token}`);
  await tab.send("write");
  await tab.page.waitForSelector(".park");
  await tab.picture("with a token");
  await tab.click("text=Approve");
  await tab.phase("completed");
  await tab.isTrue(other);
  await tab.page.reload();
  await tab.shows("I write.");
  await tab.isTrue(other);

  const stranger = await world.open(
    `?threadId=${await tab.thread()}&api=${encodeURIComponent(world.server.url)}&token=wrong`,
  );
  await stranger.page.waitForSelector('.error[data-code="unauthorized"]');
  expect(await stranger.texts()).toEqual([]);
  await stranger.picture("unauthorized");
});

test("a proxy that knows people by a cookie", async () => {
  const world = await World.start("cookie", { env: { SPOOL_TOKEN: token }, sessions: { ann: token } });
  const other = world.other({ token });
  const tab = await world.open();
  await tab.context.addCookies([
    { name: "session", value: "ann", url: world.site.url, httpOnly: true, sameSite: "Strict" },
  ]);
  await tab.page.reload();
  await tab.send("hello");
  await tab.shows("You said: hello.");
  await tab.phase("completed");
  await tab.isTrue(other);
  await tab.picture("with a cookie");
});

test("a page of another origin, with cookies", async () => {
  const world = await World.start("credentials", {
    env: { SPOOL_TOKEN: token },
    config: (origin) => `cors: {origins: ["${origin}"], allow_credentials: true}`,
  });
  const api = await new Site({ folder: "", port: world.server.port, sessions: { ann: token } }).listen();
  onTestFinished(() => api.close());
  const query = `?cookies&api=${encodeURIComponent(api.url)}`;
  const tab = await world.open(query);
  await tab.context.addCookies([{ name: "session", value: "ann", url: api.url, httpOnly: true, sameSite: "Strict" }]);
  await tab.send("hello");
  await tab.shows("You said: hello.");
  await tab.phase("completed");
  await tab.isTrue(world.other({ token }));
  await tab.page.reload();
  await tab.shows("You said: hello.");
  await tab.isTrue(world.other({ token }));
  await tab.picture("with cookies");

  await tab.context.clearCookies();
  await tab.page.reload();
  await tab.page.waitForSelector('.error[data-code="unauthorized"]');
  expect(await tab.texts()).toEqual([]);
  await tab.picture("without cookies");
});

// Who may see the console's data: tokens, cookies, scopes.
import { expect, onTestFinished, test } from "vitest";
import { Site } from "../site.js";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";

const token = "a-token-for-the-tests-of-the-console";
const mail = () =>
  play({ mail: [new Tape().call("c1", "send_email", { to: "ann" }).end(), new Tape().say("Sent.").end()] });

test("a token", async () => {
  const world = await World.start("console-token", { env: { SPOOL_TOKEN: token } });
  const desk = await Desk.open(world);
  desk.expects(/status of 401/);
  await desk.heading("This server asks for a token").waitFor();
  await desk.look("token");
  await desk.page.getByLabel("Token").fill("a wrong one");
  await desk.page.keyboard.press("Enter");
  await desk.page.getByText("The server does not accept this token.").waitFor();
  await desk.page.getByLabel("Token").fill(token);
  await desk.page.keyboard.press("Enter");
  await desk.field.waitFor();
  await desk.send("hello");
  await desk.page.getByText("You said: hello.").waitFor();
  await desk.page.reload();
  await desk.page.getByText("You said: hello.").waitFor();
  expect(desk.page.url()).not.toContain(token);

  const other = await desk.page.context().newPage(); // it is of the tab alone
  await other.goto(world.server.url);
  await other.getByText("This server asks for a token").waitFor();
  await other.close();
  await desk.button("Forget the token").click();
  await desk.heading("This server asks for a token").waitFor();
  expect(await desk.page.getByText("You said: hello.").count()).toBe(0);
  desk.expects(/another page opens/);
  desk.untroubled();
});

test("a token without the scopes", async () => {
  const world = await World.start("console-scopes", {
    config: `auth: {tokens: [{token: "${token}", tenant: acme, subject: ben, scopes: [read, write]}]}`,
  });
  world.model.script = mail();
  const desk = await Desk.open(world);
  desk.expects(/status of 40[13]/);
  await desk.page.getByLabel("Token").fill(token);
  await desk.button("Go on").click();
  await desk.send("mail");
  await desk.heading("Allow send_email?").waitFor();
  await desk.button("Approve").click();
  await desk.question.getByRole("alert").waitFor();
  expect(await desk.question.getByRole("alert").innerText()).toMatch(/scope|permi|may not/i);
  await desk.look("without-approve");
  expect(world.model.effects).toEqual([]);
  await desk.go("#/operations");
  await desk.page.getByRole("alert").first().waitFor();
  await desk.look("without-admin");
  await desk.go("#/inbox");
  await desk.page
    .getByText(/send_email|may not|scope/)
    .first()
    .waitFor();
  await desk.look("inbox-without-approve");
  desk.untroubled();
});

test("a proxy that knows people by a cookie", async () => {
  const world = await World.start("console-cookie", { env: { SPOOL_TOKEN: token } });
  world.model.script = mail();
  const proxy = await new Site({ folder: "", port: world.server.port, sessions: { ann: token } }).listen();
  onTestFinished(() => proxy.close());
  const desk = await Desk.open(world, "", { at: proxy.url, cookies: [{ name: "session", value: "ann" }] });
  await desk.send("mail");
  await desk.button("Approve").click();
  await desk.page.getByText("Sent.").waitFor();
  await desk.page.reload();
  await desk.page.getByText("Sent.").waitFor();
  desk.untroubled();

  await desk.page.context().clearCookies(); // the session is over
  desk.expects(/status of 401/);
  const asks = desk.heading("This server asks for a token").waitFor();
  await Promise.race([asks, desk.send("mail")]); // or the page has noticed it before
  await asks;
  desk.untroubled();
});

// Each kind of question, as the console asks it.
import { expect, test } from "vitest";
import { until } from "../gate.js";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";
import { startShop } from "./shop.js";

const email = { to: "ann@example.com" };

test("a question of an MCP server", async () => {
  const shop = await startShop();
  const world = await World.start("console-mcp", {
    agent: "mcp: {shop: {}}",
    config: `mcp: {shop: {url: "${shop}"}}`,
  });
  world.model.script = play({
    refund: [new Tape().call("c1", "shop__refund", { order: "17" }).end(), new Tape().say("Refunded.").end()],
  });
  const desk = await Desk.open(world);
  await desk.send("refund");
  await desk.heading("shop__refund asks").waitFor();
  await desk.page.getByText("Why is order 17 refunded?").waitFor();
  await desk.says(/answer a question of shop__refund/);
  await desk.look("elicitation");
  expect(await desk.button("Answer").isDisabled()).toBe(true); // the server wants a reason
  await desk.page.getByLabel("reason", { exact: true }).selectOption("broken");
  await desk.button("Answer").click();
  await desk.page.getByText("Refunded.").waitFor();
  desk.untroubled();
});

test("a server that wants to know the person", async () => {
  const shop = await startShop("--people", "ann");
  const world = await World.start("console-sign-in", {
    agent: "mcp: {shop: {}}",
    config: `mcp: {shop: {url: "${shop}", auth: {type: authorization_code, issuer: "${shop}", client_id: spool}}}
sign_in: {keys: ["${Buffer.alloc(32, 7).toString("base64")}"]}`,
  });
  world.model.script = play({
    orders: [new Tape().call("c1", "shop__sign_in", {}).end(), new Tape().say("Thank you.").end()],
  });
  const desk = await Desk.open(world);
  await desk.send("orders");
  await desk.page.getByText("Sign in to shop, then approve.").waitFor();
  await desk.look("sign-in-elsewhere");
  desk.expects(/another page opens/);
  const [other] = await Promise.all([
    desk.page.context().waitForEvent("page"),
    desk.question.getByRole("link").click(),
  ]);
  await other.getByText("You are signed in to shop").waitFor();
  await other.close();
  await desk.button("Go on").click();
  await desk.page.getByText("Thank you.").waitFor();
  desk.untroubled();
});

test("a tool of the client", async () => {
  const world = await World.start("console-client-tool");
  world.model.script = play({
    fill: [new Tape().call("c1", "fillForm", { field: "name" }).end(), new Tape().say("Filled.").end()],
  });
  await fetch(`${world.server.url}/api/agent/ag-ui`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      threadId: "t",
      runId: "r",
      messages: [{ id: "m1", role: "user", content: "fill" }],
      tools: [{ name: "fillForm", description: "Fills", parameters: { type: "object" } }],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  }).then((answer) => answer.text());
  const desk = await Desk.open(world, "#/threads/t");
  await desk.heading("fillForm runs at the client").waitFor();
  await desk.says(/run fillForm and send its result/);
  await desk.look("client-tool");
  await desk.page.getByLabel(/^Result/).fill('{"name": ');
  expect(await desk.button("Send the result").isDisabled()).toBe(true);
  await desk.page.getByLabel(/^Result/).fill('{"name": "Ann"}');
  await desk.button("Send the result").click();
  await desk.page.getByText("Filled.").waitFor();
  await desk.page.getByText('→ {name: "Ann"}').waitFor();
  desk.untroubled();
});

test("a question that nobody answers", async () => {
  const world = await World.start("console-expired", { limits: "hitl_ttl: 1s" });
  world.model.script = play({
    mail: [new Tape().call("c1", "send_email", email).end(), new Tape().say("Nobody was there.").end()],
  });
  const desk = await Desk.open(world);
  await desk.send("mail");
  await desk.page.getByText("Nobody was there.").waitFor();
  await desk.says(/^Nobody answered until/);
  await desk.page
    .locator(".call")
    .getByText(/^Nobody answered until/)
    .waitFor();
  await desk.page.getByLabel("State of the threads").selectOption("expired");
  await desk.page.locator(".rows").getByText("nobody answered").waitFor();
  await desk.look("expired");
  await desk.go("#/inbox");
  await desk.page.getByRole("tab", { name: "Expired" }).click();
  await desk.page
    .locator(".inbox-list")
    .getByText(/^until /)
    .waitFor();
  await desk.look("inbox-expired");
  desk.untroubled();
});

test("approvals of one step are answered together", async () => {
  const world = await World.start("console-together");
  const both = () => [
    new Tape().call("c1", "send_email", { to: "ann" }).call("c2", "send_email", { to: "bob" }).end(),
    new Tape().say("Answered.").end(),
  ];
  world.model.script = play({ yes: both(), no: both() });
  const desk = await Desk.open(world);
  await desk.send("yes");
  await desk.button("Approve all 2 as they are").waitFor();
  expect(await desk.question.count()).toBe(2);
  await desk.look("together");
  await desk.button("Approve all 2 as they are").click();
  await desk.page.getByText("Answered.").waitFor();
  expect(world.model.effects.map(({ args }) => args)).toEqual(expect.arrayContaining([{ to: "ann" }, { to: "bob" }]));
  await desk.send("no");
  await desk.button("Deny all 2").click();
  await desk.page.locator('.call[data-state="denied"]').nth(1).waitFor();
  await desk.page.getByText("Answered.").nth(1).waitFor();
  await desk.question.waitFor({ state: "detached" });
  expect(world.model.effects).toHaveLength(2);
  desk.untroubled();
});

test("a tool that answers with an error is one on every page", async () => {
  const world = await World.start("console-failed");
  world.model.script = play({
    orders: [new Tape().call("c1", "look", {}).end(), new Tape().say("It is away.").end()],
  });
  world.model.tools.set("look", () => new Response("the shop is away", { status: 500 }));
  await world.other().run({ threadId: "t", runId: "r", prompt: "orders" });
  const desk = await Desk.open(world, "#/threads/t");
  const failed = async () => {
    await desk.page
      .locator('.call[data-state="error"]')
      .getByText(/status 500/)
      .waitFor();
  };
  await failed();
  await desk.page.reload();
  await failed();
  await desk.go("#/threads/t/record");
  await failed();
  await desk.page
    .locator(".events")
    .getByText(/look failed: “.*status 500/)
    .waitFor();
  await desk.go("#/operations/runs/r");
  await desk.page.getByText("look failed", { exact: true }).waitFor();
  await desk.look("failed-run");
  desk.untroubled();
});

test("a call whose outcome nobody knows", async () => {
  const world = await World.start("console-unknown");
  world.model.script = play({
    pay: [new Tape().call("p1", "pay", { amount: 7 }).end(), new Tape().say("Paid.").end()],
  });
  world.model.tools.set("pay", () => new Promise(() => undefined));
  const desk = await Desk.open(world);
  desk.expects(/Failed to load resource|ERR_/);
  await desk.send("pay");
  await until("the payment is on its way", () => world.model.effects.length === 1);
  await world.server.kill();
  await world.server.start();
  await desk.heading("What did pay do?").waitFor();
  await desk.says(/say what pay did before its worker died/);
  await desk.look("outcome-unknown");
  await desk.page.getByLabel(/^Its result/).fill('{"receipt": 17}');
  await desk.page.getByLabel(/^Reason/).fill("The bank says so.");
  await desk.button("It happened, with this result").click();
  await desk.page.getByText("Paid.").waitFor();
  await desk.page
    .getByText(/receipt: 17/)
    .first()
    .waitFor();
  expect(world.model.effects).toHaveLength(1);
  desk.untroubled();
});

test("a call whose outcome nobody knows is run again", async () => {
  const world = await World.start("console-again");
  world.model.script = play({
    pay: [new Tape().call("p1", "pay", { amount: 7 }).end(), new Tape().say("Paid.").end()],
  });
  world.model.tools.set("pay", (_, count) => (count === 1 ? new Promise(() => undefined) : { receipt: 18 }));
  const desk = await Desk.open(world);
  desk.expects(/Failed to load resource|ERR_/);
  await desk.send("pay");
  await until("the payment is on its way", () => world.model.effects.length === 1);
  await world.server.kill();
  await world.server.start();
  await desk.heading("What did pay do?").waitFor();
  expect(world.model.effects).toHaveLength(1); // not before somebody says so
  await desk.page.getByLabel(/^Reason/).fill("The bank has nothing.");
  await desk.button("Run it again").click();
  await desk.page.getByText("Paid.").waitFor();
  await desk.page
    .locator(".call-glance")
    .getByText(/receipt: 18/)
    .waitFor();
  await desk.question.waitFor({ state: "detached" });
  expect(world.model.effects.map(({ args }) => args)).toEqual([{ amount: 7 }, { amount: 7 }]);
  const [thread] = (await world.other().threads()).threads;
  expect(await (await world.other().record(thread?.id ?? "")).text()).toContain("The bank has nothing.");
  desk.untroubled();
});

test("a budget that is used up", async () => {
  const world = await World.start("console-budget", { config: "budget: {tokens: 20000, on_exhausted: park}" });
  world.model.script = play({ long: [new Tape().call("c1", "look", {}).end(), new Tape().say("Enough.").end()] });
  await world.other().run({ threadId: "t", prompt: "long", tokenBudget: 40 });
  const desk = await Desk.open(world, "#/threads/t");
  await desk.heading("The budget of 40 tokens is not enough").waitFor();
  await desk.says(/Needs more than its budget of 40 tokens/);
  await desk.look("budget");
  const total = desk.page.getByLabel("Tokens, in all");
  await total.fill("10");
  await desk.button("Raise the budget").click();
  await desk.question.getByRole("alert").waitFor();
  expect(await desk.page.getByRole("alert").count()).toBe(1); // it is said once
  await desk.look("budget-refused");
  await total.fill("5000");
  await desk.button("Raise the budget").click();
  await desk.page.getByText("Enough.").waitFor();
  desk.expects(/status of 4/);
  desk.untroubled();
});

test("a nested run asks, the arguments are edited, and the reason arrives", async () => {
  const world = await World.start("console-nested");
  const order = { name: "mailer", instructions: "mail ann" };
  world.model.script = play({
    ask: [new Tape().call("s1", "spawnSubagent", order).end(), new Tape().say("All done.").end()],
    "mail ann": [new Tape().call("n1", "send_email", email).end(), new Tape().say("Mail sent.").end()],
  });
  const desk = await Desk.open(world);
  await desk.send("ask");
  await desk.heading("Allow send_email?").waitFor();
  await desk.page.getByText("Asked by the nested run of mailer.").waitFor();
  await desk.says(/asked by mailer/);
  await desk.button("Edit the arguments").click();
  await desk.page.getByLabel("to optional").fill("bob@example.com");
  await desk.page.getByLabel(/^Reason/).fill("Ann has left.");
  await desk.look("nested");
  await desk.button("Approve the edited call").click();
  await desk.page.getByText("All done.").waitFor();
  expect(world.model.effects).toMatchObject([{ tool: "send_email", args: { ...email, to: "bob@example.com" } }]);
  const { messages } = await world.other().history((await world.other().threads()).threads[0]?.id ?? "");
  expect(JSON.stringify(messages)).toContain("Ann has left.");
  desk.untroubled();
});

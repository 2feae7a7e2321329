// Jobs that have died: redriven and forgotten, one and all. Jobs that are late.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { play, Tape } from "../tape.js";
import { World } from "../world.js";
import { Desk } from "./desk.js";

test("dead jobs", async () => {
  // A queue that takes nothing, and later passes everything on.
  let to = "";
  const queue = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    if (to === "") {
      response.writeHead(410).end();
      return;
    }
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith("webhook-"));
    const answer = await fetch(to, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(Object.fromEntries(headers) as Record<string, string>) },
      body: Buffer.concat(chunks),
    });
    response.writeHead(answer.status).end();
  });
  await new Promise<void>((resolve) => queue.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void queue.close());
  const secret = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
  const world = await World.start("console-dead", {
    config: `queue:
  push: {url: "http://127.0.0.1:${(queue.address() as AddressInfo).port}", secrets: ["${secret}"]}
  verify: {webhook: {secrets: ["${secret}"]}}`,
  });
  for (const n of [1, 2, 3, 4]) {
    await world.other().run({ threadId: `t${n}`, runId: `r${n}`, prompt: `job ${n}` });
  }
  const desk = await Desk.open(world, "#/operations/jobs");
  const rows = desk.page.locator("tbody tr");
  await rows.nth(3).waitFor();
  await desk.page.getByText(/410/).first().waitFor();
  await desk.look("dead");
  to = `${world.server.url}/api/queue/agent-run`;
  const row = (run: string) => rows.filter({ hasText: run });
  await row("r1").getByRole("button", { name: "Redrive" }).click();
  await desk.page.getByRole("status").getByText("1 redriven").waitFor();
  await row("r1").waitFor({ state: "detached" });
  await row("r2").getByRole("button", { name: "Forget" }).click();
  await desk.page.getByRole("dialog").waitFor();
  await desk.look("forget");
  await desk.button("Forget it").click();
  await desk.page.getByRole("status").getByText("1 forgotten").waitFor();
  await row("r2").waitFor({ state: "detached" });
  await desk.button("Redrive all").click();
  await desk.heading("Redrive all dead jobs?").waitFor();
  await desk.look("redrive-all");
  await desk.page.getByRole("dialog").getByRole("button", { name: "Redrive all" }).click();
  await desk.page.getByRole("status").getByText("2 redriven").waitFor();
  await desk.page.getByText("No job is dead").waitFor();
  await desk.go("#/threads/t3");
  await desk.page.getByText(/You said/).waitFor();
  await desk.go("#/threads/t2");
  await desk.says(/Failed: .*410/);
  expect((await world.other().history("t1")).thread.state).toBe("COMPLETED");
  desk.untroubled();
});

test("stuck jobs", async () => {
  const world = await World.start("console-stuck", { limits: "concurrency: 1" });
  world.model.script = play({ long: [new Tape().say("Without end")] });
  for (const n of [1, 2]) {
    await world.other().run({ threadId: `t${n}`, runId: `r${n}`, prompt: "long" });
  }
  const desk = await Desk.open(world, "#/operations/jobs");
  const states = desk.page.getByLabel("State of the jobs");
  const rows = desk.page.locator("tbody tr");
  await states.selectOption("stuck");
  await desk.page.getByText("No job is stuck").waitFor(); // none has been due for so long
  // Nobody waits for a quarter of an hour here: the server is asked for those that have been due for any time.
  await desk.page.route(/\/api\/admin\/jobs\?.*state=stuck/, (route) =>
    route.continue({ url: `${route.request().url()}&olderThan=0s` }),
  );
  await rows.nth(1).waitFor();
  const late = rows.filter({ hasText: "r2" });
  await late.getByText(/^(now|\d+ s) ago$/).waitFor();
  await late.getByRole("cell", { name: "ready", exact: true }).waitFor();
  expect(await desk.page.getByRole("button", { name: /Redrive|Forget/ }).count()).toBe(0); // they are not dead
  await late.getByRole("link", { name: "r2" }).click();
  await desk.heading("r2").waitFor();
  await desk.button("Stop").click();
  await desk.page.getByRole("dialog").getByRole("button", { name: "Stop it" }).click();
  await desk.page.locator(".ops-head .state[data-state=CANCELLED]").waitFor();
  await desk.go("#/operations/jobs");
  await states.selectOption("stuck");
  await rows.filter({ hasText: "r1" }).waitFor();
  expect(await late.count()).toBe(0);
  desk.untroubled();
});

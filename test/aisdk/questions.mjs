// Questions of all kinds: budgets, tools of the page, calls whose outcome is not known, and answers that say more than
// yes. It fails with what is wrong.
import assert from "node:assert/strict";
import { last, newChat, part, play, same, saved, server, text, until } from "./client.mjs";

const where = { name: "where", description: "Where the user is.", parameters: { type: "object", properties: { of: { type: "string" } } } };

/** The chat has ended, and sends nothing more by itself. */
async function ends(c, words) {
  await until(`the text ${words}`, () => c.chat.status === "ready" && text(last(c)) === words);
  const { posts } = c;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(c.posts, posts, "it posts again by itself");
}

const stories = {
  async budget() {
    const c = newChat("budget", { automatic: true, body: { agent: "frugal" } });
    await c.chat.sendMessage({ text: "budget budget" });
    const asked = part(c, "tool-budget");
    assert.equal(asked?.state, "approval-requested", JSON.stringify(last(c)));
    assert.equal(asked.approval.descriptor.reason, "budget_reached");
    assert.equal(asked.input.budget.tokenBudget, 200);
    await same(c, "budget");
    // An answer without a new total is refused, and the question stays.
    await c.chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await until("the refusal", () => c.chat.status === "error");
    assert.match(JSON.parse(c.chat.error.message).error, /tokenBudget/);
    c.chat.messages = await saved("budget");
    c.chat.clearError();
    await c.chat.addToolApprovalResponse({ id: asked.approval.id, approved: true, options: { body: { answers: { [asked.toolCallId]: { payload: { tokenBudget: 5000 } } } } } });
    await ends(c, "One.|More.");
    assert.equal(part(c, "tool-budget").state, "output-available");
    assert.equal(text((await saved("budget")).at(-1)), "One.|More.");
    await same(c, "budget"); // with the question and its answer
    const reloaded = newChat("budget", { messages: (await saved("budget")).slice(0, 1) });
    await reloaded.chat.resumeStream(); // with replay=last
    await same(reloaded, "budget");
  },
  async budgetDenied() {
    const c = newChat("denied", { automatic: true, body: { agent: "frugal" } });
    await c.chat.sendMessage({ text: "budget denied" });
    await c.chat.addToolApprovalResponse({ id: part(c, "tool-budget").approval.id, approved: false });
    await ends(c, "One.");
    assert.equal(part(c, "tool-budget").state, "output-denied");
    assert.equal(last(c).metadata.stopReason, "token_budget");
    await same(c, "denied");
  },
  // A budget that has no room for the first step: the message begins with the question.
  async budgetFirst() {
    for (const approved of [true, false]) {
      const id = `first-${approved}`;
      const c = newChat(id, { automatic: true, body: { agent: "frugal" } });
      await c.chat.sendMessage({ text: `text ${"long ".repeat(200)}` });
      await same(c, id);
      const reloaded = newChat(id, { automatic: true, body: { agent: "frugal" }, messages: await saved(id) });
      const { approval, toolCallId } = part(reloaded, "tool-budget");
      const options = approved ? { body: { answers: { [toolCallId]: { payload: { tokenBudget: 5000 } } } } } : undefined;
      await reloaded.chat.addToolApprovalResponse({ id: approval.id, approved, options });
      await ends(reloaded, approved ? "Hello to you." : "");
      assert.equal(part(reloaded, "tool-budget").state, approved ? "output-available" : "output-denied");
      await same(reloaded, id);
    }
  },
  async pageTool() {
    const calls = [];
    const onToolCall = (chat, { toolCall }) => {
      calls.push(toolCall.toolName);
      void chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: { city: "Oslo" } });
    };
    const c = newChat("page", { automatic: true, body: { tools: [where] }, onToolCall });
    await c.chat.sendMessage({ text: "page page" });
    await ends(c, "I ask.|There.");
    assert.deepEqual(calls, ["where"], "only the page's calls, and each once");
    assert.deepEqual(part(c, "tool-where").output, { city: "Oslo" });
    assert.deepEqual((await saved("page")).at(-1).parts.find((p) => p.type === "tool-where").output, { city: "Oslo" });
    await same(c, "page");
  },
  async pageToolFails() {
    const c = newChat("fails", { automatic: true, body: { tools: [where] } });
    await c.chat.sendMessage({ text: "page fails" });
    await same(c, "fails");
    const reloaded = newChat("fails", { automatic: true, body: { tools: [where] }, messages: await saved("fails") });
    await reloaded.chat.addToolOutput({ tool: "where", toolCallId: part(c, "tool-where").toolCallId, state: "output-error", errorText: "nobody knows" });
    await ends(reloaded, "I ask.|There.");
    assert.equal(part(reloaded, "tool-where").state, "output-error");
    await same(reloaded, "fails");
  },
  async both() {
    const c = newChat("both", { automatic: true, body: { tools: [where] } });
    await c.chat.sendMessage({ text: "both both" });
    assert.equal(part(c, "tool-where").state, "input-available");
    await c.chat.addToolOutput({ tool: "where", toolCallId: part(c, "tool-where").toolCallId, output: "Oslo" });
    await until("the result", () => c.chat.status === "ready"); // the AI SDK does not wait for answers to calls of the server
    assert.equal(part(c, "tool-send").state, "approval-requested");
    await c.chat.addToolApprovalResponse({ id: part(c, "tool-send").approval.id, approved: true });
    await ends(c, "I ask.|There.");
    await same(c, "both");
  },
  async unknown() {
    for (const again of [true, false]) {
      const id = `unknown-${again}`;
      const c = newChat(id, { automatic: true });
      await c.chat.sendMessage({ text: `unsure ${id}` });
      const asked = part(c, "tool-unsure");
      assert.equal(asked.state, "approval-requested");
      assert.equal(asked.approval.descriptor.reason, "outcome_unknown");
      await c.chat.addToolApprovalResponse({ id: asked.approval.id, approved: again });
      await ends(c, "I try.|Tried.");
      const { output } = part(c, "tool-unsure");
      if (again) assert.equal(output, "tried");
      else assert.equal(output.cancelled, true);
      await same(c, id);
    }
  },
  // A run that is stopped while an allowed call executes: the page must not send its answer again and again.
  async stoppedAfterAnswer() {
    const c = newChat("hang", { automatic: true });
    await c.chat.sendMessage({ text: "hang hang" });
    await c.chat.addToolApprovalResponse({ id: part(c, "tool-hang").approval.id, approved: true });
    await until("the answer", () => c.posts === 2 && c.status === 200 && c.chat.status !== "ready");
    assert.equal((await fetch(`${server}/api/chat/hang/stop`, { method: "POST" })).status, 200);
    await ends(c, "I wait.");
    await same(c, "hang");
  },
  async edited() {
    const c = newChat("edited", { automatic: true });
    await c.chat.sendMessage({ text: "send edited" });
    const { approval, toolCallId } = part(c, "tool-send");
    await c.chat.addToolApprovalResponse({ id: approval.id, approved: true, options: { body: { answers: { [toolCallId]: { arguments: { to: "bob" } } } } } });
    await ends(c, "I send.|Sent.");
    assert.deepEqual((await saved("edited")).at(-1).parts.find((p) => p.type === "tool-send").state, "output-available");
    await same(c, "edited");
  },
  // Each stream breaks off behind each of its chunks: the question's, and that of the answer.
  async cuts() {
    const answers = {
      send: (c) => c.chat.addToolApprovalResponse({ id: part(c, "tool-send").approval.id, approved: true }),
      nest: (c) => c.chat.addToolApprovalResponse({ id: part(c, "dynamic-tool").approval.id, approved: true }),
      unsure: (c) => c.chat.addToolApprovalResponse({ id: part(c, "tool-unsure").approval.id, approved: true }),
      page: (c) => c.chat.addToolOutput({ tool: "where", toolCallId: part(c, "tool-where").toolCallId, output: "Oslo" }),
      budget: (c) => {
        const { approval, toolCallId } = part(c, "tool-budget");
        return c.chat.addToolApprovalResponse({ id: approval.id, approved: true, options: { body: { answers: { [toolCallId]: { payload: { tokenBudget: 5000 } } } } } });
      },
    };
    for (const [script, answer] of Object.entries(answers)) {
      let whole = { asks: false, goesOn: false };
      for (let n = 1; !whole.asks || !whole.goesOn; n++) {
        assert.ok(n < 100);
        const id = `cut-${script}-${n}`;
        const c = newChat(id, { automatic: true, body: { tools: [where], agent: script === "budget" ? "frugal" : "a" } });
        const back = async () => {
          if (c.chat.status === "ready") return true;
          assert.ok(c.ends.at(-1).isDisconnect, String(c.errors));
          await c.chat.resumeStream();
          return false;
        };
        c.cut = n;
        await c.chat.sendMessage({ text: `${script} ${id}` });
        whole.asks = await back();
        await same(c, id);
        c.cut = n;
        await answer(c);
        await until("the end", () => c.chat.status !== "submitted" && c.chat.status !== "streaming" && c.posts === 2);
        whole.goesOn = await back();
        const words = { send: "I send.|Sent.", nest: "Mailed.", unsure: "I try.|Tried.", page: "I ask.|There.", budget: "One.|More." }[script];
        await until(words, () => c.chat.status === "ready" && text(last(c)) === words);
        await same(c, id);
        assert.equal(c.posts, 2);
      }
    }
  },
  async detailOfNothing() {
    const c = newChat("detail");
    await c.chat.sendMessage({ text: "send detail" });
    const post = (answers) => fetch(`${server}/api/chat`, { method: "POST", body: JSON.stringify({ id: "detail", trigger: "submit-message", messages: c.chat.messages, answers }) });
    const res = await post({ other: { payload: 1 } });
    assert.equal(res.status, 400);
    assert.match((await res.json()).error, /answers: .*"other"/);
    await same(c, "detail");
  },
};

await play(stories);

// What models and tools return besides words. What a provider cites is a mark in the text and a link below it, which opens
// on a click and not before. Images are shown. So they are in the pages of the examples and the guides.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { type Tab, World } from "../world.js";
import { Desk } from "./desk.js";

const text = "Ä🙂 is **big**. And more.";
const png = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGOwqTgBQQxwFgBV3Ajp6CE9tgAAAABJRU5ErkJggg=="; // 3×2

test("what each provider cites opens on a click, and its image is shown", async () => {
  const peer = await citing();
  const providers = ["openai", "responses", "gemini", "anthropic"];
  const world = await World.start("console-sources", {
    config: "",
    models: providers.map(
      (name) => `  ${name}: {provider: ${name}, base_url: "${peer.url}/${name}/at", model: m, api_key: k}`,
    ),
    agents: providers.map((name) => `  ${name}: {model: ${name}, tools: [look]}`),
  });
  world.model.tools.set(
    "look",
    () => new Response(Buffer.from(png, "base64"), { headers: { "Content-Type": "image/png" } }),
  );
  const desk = await Desk.open(world);
  for (const name of providers) {
    await world.other().run({ threadId: name, runId: `run-${name}`, agent: name, prompt: "cite" });
    await desk.go(`#/threads/${name}`);
    const answer = desk.page.locator("article.answer", { hasText: "And more." });
    const link = answer.locator(".sources").getByRole("link", { name: `The page of ${name}` });
    await link.waitFor();
    const mark = answer.locator(".cite a");
    for (const one of [link, mark]) {
      expect(await one.getAttribute("href"), name).toBe(`${peer.url}/page/${name}`);
      expect(await one.getAttribute("rel"), name).toBe("noopener noreferrer");
      expect(await one.getAttribute("target"), name).toBe("_blank");
    }
    expect((await answer.locator("p").first().textContent())?.startsWith("Ä🙂 is big.1 And"), name).toBe(true);
    const image = desk.page.getByRole("img", { name: name === "anthropic" ? /look/ : "An image of the model" });
    await expect.poll(() => image.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(3);
    await opens(desk.page, mark, name);
  }
  await desk.look("sources");
  const [saved] = await Promise.all([desk.page.waitForEvent("download"), desk.button("Save as a file").click()]);
  const copy = join(world.folder, saved.suggestedFilename());
  await saved.saveAs(copy);
  await desk.go("#/file");
  await desk.page.locator('.file-page input[type="file"]').setInputFiles(copy);
  await desk.page.locator(".artifact", { hasText: "Its data are not in this file." }).waitFor(); // nobody is asked for them
  desk.expects(/another page opens/);
  desk.untroubled();

  // The example of @spool/react, which starts runs of the first agent.
  const { page } = await world.open("?example");
  await page.route("**/api/agent/run", (route) =>
    route.continue({ postData: { ...route.request().postDataJSON(), agent: "gemini" } }),
  );
  await page.locator("input").fill("cite");
  await page.getByRole("button", { name: "Send" }).click();
  await opens(page, await shows(page, "gemini"), "gemini");

  // The components of the guides, while the run answers and when the page opens again.
  let tab: Tab | undefined; // they share a profile, and so the files of the page
  for (const [name, agent] of [
    ["ai-sdk-7", "gemini"],
    ["ai-sdk-6", "openai"],
    ["ag-ui", "responses"],
  ] as const) {
    tab = await world.open(`?guide=${name}`, tab);
    const { page } = tab;
    await page.route(/\/api\/(chat|agent\/ag-ui)$/, (route) => {
      const said = route.request().postDataJSON();
      return route.continue({ postData: { ...said, agent, forwardedProps: { spool: { agent } } } });
    });
    await page.locator("input").fill("cite");
    await page.locator("input").press("Enter");
    await opens(page, await shows(page, agent), agent);
    await page.reload();
    await shows(page, agent);
    await tab.picture(name);
  }
  world.untroubled();

  /** Expects the image of a provider, and returns the link. */
  async function shows(page: Page, provider: string): Promise<Locator> {
    const link = page.getByRole("link", { name: `The page of ${provider}` });
    await link.waitFor();
    const width = () => page.getByRole("img", { name: "image" }).evaluate((img: HTMLImageElement) => img.naturalWidth);
    await expect.poll(width).toBe(3);
    return link;
  }

  /** Expects that a click opens the page of a provider, which nobody has asked for before. */
  async function opens(page: Page, link: Locator, provider: string): Promise<void> {
    expect(peer.opened, provider).toEqual([]);
    const [opened] = await Promise.all([page.waitForEvent("popup"), link.click()]);
    await opened.getByText(`page ${provider}`).waitFor();
    await opened.close();
    expect(peer.opened.splice(0), provider).toEqual([{ path: `/page/${provider}`, referer: undefined }]);
  }
});

test("what a result names is listed below the call", async () => {
  const world = await World.start("console-named", {});
  const asked: string[] = [];
  world.model.tools.set("look", () => ({
    files: [
      { artifact: { id: `art_${"0".repeat(32)}`, name: "gone.png", mediaType: "image/png", size: 9 } },
      { artifact: { id: `art_${"1".repeat(32)}`, name: "huge.png", mediaType: "image/png", size: 90_000_000 } },
      { artifact: { id: `art_${"2".repeat(32)}`, name: "page.svg", mediaType: "image/svg+xml", size: 9 } },
      { artifact: { id: `art_${"3".repeat(32)}`, name: {}, mediaType: 1, size: "9" } },
    ],
    sources: [
      { url: "https://example.com/found", title: "Found" },
      { url: "javascript:alert(1)", title: "No page" },
    ],
  }));
  world.model.script = async ({ step }, answer) =>
    step === 0 ? answer.call("c1", "look", {}) : answer.text("That is it.");
  const desk = await Desk.open(world);
  desk.page.on("request", (request) => asked.push(...(/art_(\d)/.exec(request.url())?.slice(1) ?? [])));
  await desk.send("look");
  await desk.page.getByText("That is it.").waitFor();
  const list = desk.page.getByRole("list", { name: "Sources of look" });
  expect(await list.getByRole("link").evaluateAll((all) => all.map((one) => one.getAttribute("href")))).toEqual([
    "https://example.com/found",
  ]);
  await list.getByText("No page").waitFor();
  const file = (name: string) => desk.page.locator(".artifact", { hasText: name });
  await file("gone.png").getByText("Its data are gone.").waitFor();
  expect(await file("huge.png").getByRole("button").allTextContents()).toEqual(["Show", "Save"]);
  expect(await file("page.svg").getByRole("button").allTextContents()).toEqual(["Save"]);
  expect(asked).toEqual(["0"]);
  await desk.look("sources-of-a-result");
  desk.expects(/status of 404/);
  desk.untroubled();
});

/** A server that answers as each provider does, citing a page of its own. */
async function citing() {
  const opened: { path: string; referer: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const [, name = "", rest = ""] = (request.url ?? "").split("/");
    if (name === "page") {
      opened.push({ path: request.url ?? "", referer: request.headers.referer });
      response.setHeader("Content-Type", "text/html").end(`<p>page ${rest}</p>`);
      return;
    }
    let asked = "";
    request.setEncoding("utf8").on("data", (more: string) => {
      asked += more;
    });
    request.on("end", () => {
      response.setHeader("Content-Type", "text/event-stream");
      const url = `http://${request.headers.host}/page/${name}`;
      const events = answers[name]?.(url, `The page of ${name}`, asked) ?? [];
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, opened };
}

const end = 14; // of the first sentence, in code points
const answers: Record<string, (url: string, title: string, asked: string) => object[]> = {
  openai: (url, title) => [
    { choices: [{ index: 0, delta: { content: text } }] },
    {
      choices: [
        {
          index: 0,
          delta: {
            images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }],
            annotations: [{ type: "url_citation", url_citation: { url, title, start_index: 0, end_index: end } }],
          },
          finish_reason: "stop",
        },
      ],
    },
  ],
  responses: (url, title) => {
    const annotations = [{ type: "url_citation", url, title, start_index: 0, end_index: end }];
    const item = { id: "m1", type: "message", content: [{ type: "output_text", text, annotations }] };
    const image = { id: "i1", type: "image_generation_call", status: "completed", result: png };
    return [
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.output_text.delta", item_id: "m1", output_index: 0, delta: text },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.output_item.added", output_index: 1, item: { ...image, result: null } },
      { type: "response.output_item.done", output_index: 1, item: image },
      { type: "response.completed", response: { status: "completed", output: [item, image] } },
    ];
  },
  gemini: (uri, title) => {
    const segment = { endIndex: Buffer.byteLength("Ä🙂 is **big**."), text: "Ä🙂 is **big**." };
    const groundingMetadata = {
      groundingChunks: [{ web: { uri, title } }],
      groundingSupports: [{ segment, groundingChunkIndices: [0] }],
    };
    return [
      { candidates: [{ content: { role: "model", parts: [{ text }] } }] },
      { candidates: [{ content: { role: "model", parts: [{ inlineData: { mimeType: "image/png", data: png } }] } }] },
      { candidates: [{ finishReason: "STOP", groundingMetadata }] },
    ];
  },
  // Its models make no images with data: a tool does.
  anthropic: (url, title, asked) => {
    if (!asked.includes('"tool_result"')) {
      return [
        { type: "message_start", message: { model: "m" } },
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "c1", name: "look", input: {} },
        },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "tool_use" } },
        { type: "message_stop" },
      ];
    }
    const citation = { type: "web_search_result_location", url, title, cited_text: "x", encrypted_index: "i" };
    const block = (index: number, said: string, delta: object[] = []) => [
      { type: "content_block_start", index, content_block: { type: "text", text: "" } },
      ...[{ type: "text_delta", text: said }, ...delta].map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
    return [
      { type: "message_start", message: { model: "m" } },
      ...block(0, text.slice(0, text.indexOf(" And")), [{ type: "citations_delta", citation }]),
      ...block(1, " And more."),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ];
  },
};

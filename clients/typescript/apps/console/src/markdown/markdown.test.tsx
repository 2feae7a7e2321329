// @vitest-environment jsdom
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "./markdown.js";

function html(text: string): HTMLElement {
  const root = document.createElement("div");
  root.innerHTML = renderToStaticMarkup(<Markdown text={text} />);
  return root;
}

/** Everything that a browser would run, load or follow. */
const active =
  "script, img, iframe, object, embed, svg, video, audio, form, style, link, base, meta, [src], [srcset], [style]";

test.each([
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  'a <b onclick="alert(1)">b</b> c',
  '<iframe src="https://example.com"></iframe>',
  "<svg/onload=alert(1)>",
  "<style>*{display:none}</style>",
  "![alt](https://example.com/pixel.png?secret)",
  "![alt](data:image/png;base64,AAAA)",
  "[![alt](https://example.com/a.png)](https://example.com)",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "```html\n<script>alert(1)</script>\n```",
  "`<img src=x>`",
  "| <img src=x> |\n|---|\n| <script>1</script> |",
  "- <img src=x>\n  <script>1</script>",
  "> <script>1</script>",
  '<a href="javascript:alert(1)">x</a>',
  "[x]: javascript:alert(1)\n\n[x]",
  "<!-- --><script>alert(1)</script>",
  "<details open ontoggle=alert(1)>",
])("nothing of %s becomes live", (text) => {
  const root = html(text);
  expect([...root.querySelectorAll(active)].map((one) => one.outerHTML)).toEqual([]);
  for (const element of root.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) {
      expect(name).not.toMatch(/^on/);
      expect(value).not.toMatch(/^\s*javascript:/i);
    }
  }
});

test("links tell nobody where they come from, and those that are not safe are text", () => {
  const root = html(
    "[web](https://example.com) [mail](mailto:a@example.com) [bad](javascript:alert(1)) [in](#/new) <https://b.example>",
  );
  const links = [...root.querySelectorAll("a")];
  expect(links.map((link) => link.getAttribute("href"))).toEqual([
    "https://example.com/",
    "mailto:a@example.com",
    "https://b.example/",
  ]);
  for (const link of links) {
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(link.getAttribute("target")).toBe("_blank");
  }
  expect(root.textContent).toContain("bad");
});

test("the usual things are shown", () => {
  const root = html(
    "# A\n\n*e* **s** ~~d~~ `c` &amp; &#65;\n\n- [x] t\n\n3. n\n\n| a |\n|--:|\n| 1 |\n\n> q\n\n---\n\n```go\nf()\n```",
  );
  expect(root.querySelector("h3")?.textContent).toBe("A");
  expect(root.querySelector("p")?.textContent).toBe("e s d c & A");
  expect(root.querySelector("ol")?.getAttribute("start")).toBe("3");
  expect(root.querySelector("td")?.getAttribute("data-align")).toBe("right");
  expect(root.querySelector("pre")?.textContent).toBe("f()");
  expect(root.querySelectorAll("em, strong, del, code, blockquote, hr, input[type=checkbox]")).toHaveLength(7);
});

test("a text that is nested without end does not end the page", () => {
  expect(html(`${"> ".repeat(3000)}x`).textContent).toContain("x");
  expect(html("*a ".repeat(2000)).textContent).toContain("a");
});

// The parameters of the URL: api (where the server is), token, cookies, share (tabs share a connection), last (how
// many messages are on the screen), broken (a component has a selector that throws), chat (the chat of nine features),
// example (the chat of examples/vite-chat), guide (the name of a page of guide.tsx).
import type { Snapshot } from "@spool/client";
import { createRoot, hydrateRoot } from "react-dom/client";
import Example from "vite-chat";
import { Page } from "./page.js";

const { snapshot } = window as { snapshot?: Snapshot };
const root = document.getElementById("root") as HTMLElement;
const params = new URLSearchParams(window.location.search);
const name = params.get("guide");
const page =
  name !== null ? (
    await (await import("./guide.js")).guide(name, params.get("threadId") ?? name)
  ) : params.has("example") ? (
    <Example />
  ) : (
    <Page search={window.location.search} snapshot={snapshot} />
  );
if (snapshot === undefined) {
  createRoot(root).render(page);
} else {
  hydrateRoot(root, page);
}

// Uses the shop through openapi-fetch, with the types that openapi-typescript makes.
import createClient from "openapi-fetch";

import type { components, paths } from "./schema";

declare const process: { argv: string[] };

const client = createClient<paths>({
  baseUrl: process.argv[2] ?? "",
  querySerializer: { array: { style: "form", explode: false } },
});

const list = await client.GET("/books", { params: { query: { ordering: ["-title", "id"] } } });
const book = list.data?.results[0];
if (book === undefined) {
  throw new Error(`list: ${list.response.status}`);
}
const tags: string[] = book.tags; // never null
console.log(book.title, book.released, tags.length === 0);

const change: components["schemas"]["BookInput"] = {
  title: "Emma",
  released: book.released,
  form: { kind: "audio", minutes: 90 },
};
const path = { id: book.id };
const version = (await client.GET("/books/{id}", { params: { path } })).response.headers.get("ETag") ?? "";
for (const match of ['"old"', version]) {
  const put = await client.PUT("/books/{id}", { params: { path, header: { "If-Match": match } }, body: change });
  console.log(put.response.status);
  if (put.data !== undefined) {
    const { form } = put.data;
    switch (form.kind) {
      case "paper":
        console.log(`${form.pages} pages`);
        break;
      case "audio":
        console.log(`${form.minutes} minutes, ${put.data.copies}`);
        break;
      default:
        ((value: never) => value)(form);
    }
  }
}

// A client of the book shop. Its types are those of openapi.json: what the document does not
// say does not compile. node client.mjs in test/openapi compiles and runs it.
import createClient from "openapi-fetch";

import type { components, paths } from "./schema";

type Book = components["schemas"]["Book"];
type OutOfStock = components["schemas"]["OutOfStock"];

declare const process: { argv: string[]; exitCode?: number };

const [baseUrl, key, user, password] = process.argv.slice(2);
if (baseUrl === undefined || key === undefined || user === undefined || password === undefined) {
  throw new Error("usage: client.js URL KEY USER PASSWORD");
}

function expect(holds: boolean, what: string): asserts holds {
  if (!holds) {
    throw new Error(`expected ${what}`);
  }
}

const guest = createClient<paths>({ baseUrl });

// A list with filters, in an order.
const austen = await guest.GET("/books", {
  params: { query: { author: "jane austen", in_stock: true, ordering: ["-price"] } },
});
expect(austen.data?.results.map((book) => book.title).join() === "Emma,Pride and Prejudice", "the books of an author");

// Filters are typed: neither of these compiles.
// @ts-expect-error a price is a number
void (() => guest.GET("/books", { params: { query: { min_price: "cheap" } } }));
// @ts-expect-error there is no such filter
void (() => guest.GET("/books", { params: { query: { colour: "red" } } }));

// All pages of a list, by its numbers.
async function* allBooks(size: number): AsyncGenerator<Book> {
  for (let page = 1; ; page++) {
    const { data, error } = await guest.GET("/books", { params: { query: { page, page_size: size } } });
    if (data === undefined) {
      throw new Error(error.detail ?? error.title);
    }
    yield* data.results;
    if (data.next === null) {
      return;
    }
  }
}
const titles: string[] = [];
for await (const book of allBooks(4)) {
  titles.push(book.title);
}
expect(new Set(titles).size === 13, "every book once");

// A partner adds a book. Its answer has what the shop decided: an id, and the author.
const partner = createClient<paths>({ baseUrl });
partner.use({
  onRequest({ request }) {
    const url = new URL(request.url);
    url.searchParams.set("key", key);
    return new Request(url, request);
  },
});
const draft: components["schemas"]["BookIn"] = {
  title: "Mardi",
  isbn: "9780141439999",
  authorId: 3,
  genre: "sea-story",
  price: 1099,
  stock: 2,
  published: "1849-01-01T00:00:00Z",
};
const created = await partner.POST("/books", { body: draft });
expect(created.data?.author?.name === "Herman Melville", "a new book with its author");
const id = created.data.id;

// What is wrong with a body is a list of places: a 422.
const refused = await partner.POST("/books", { body: { ...draft, isbn: "12", price: -1 } });
expect(refused.response.status === 422 && refused.error !== undefined, "a refusal");
const places = refused.error.errors?.map((fault) => fault.pointer).sort();
expect(places?.join() === "/isbn,/price", "a fault of each field");

// Somebody else was faster: a 412.
const late = await partner.PATCH("/books/{id}", {
  params: { path: { id } },
  headers: { "If-Match": '"0"' },
  body: { price: 1 },
});
expect(late.response.status === 412 && late.error?.code === "precondition_failed", "a change that was too late");

// A customer logs in and orders.
const login = await guest.POST("/login", { body: { user, password } });
expect(login.data !== undefined, "a token");
const customer = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${login.data.token}` } });

const order = await customer.POST("/orders", { body: { lines: [{ bookId: 1, quantity: 2 }] } });
expect(order.data?.total === 1998 && order.data.lines[0]?.book === "/books/1", "an order with links");

// Too few copies: a 409, whose body has a type of its own among those of the errors.
function isOutOfStock(error: object): error is OutOfStock {
  return "missing" in error;
}
const short = await customer.POST("/orders", { body: { lines: [{ bookId: 3, quantity: 1 }] } });
expect(short.response.status === 409 && short.error !== undefined, "a conflict");
expect(isOutOfStock(short.error), "the body of a conflict");
expect(short.error.missing[0]?.available === 0 && short.error.missing[0].wanted === 1, "what is missing");

// Orders have a cursor in the address of the next page.
await customer.POST("/orders", { body: { lines: [{ bookId: 12, quantity: 1 }] } });
let seen = 0;
for (let cursor: string | undefined; ; ) {
  const { data } = await customer.GET("/orders", {
    params: { query: { page_size: 1, ...(cursor === undefined ? {} : { cursor }) } },
  });
  expect(data !== undefined, "a page of orders");
  seen += data.results.length;
  if (data.next === null) {
    break;
  }
  cursor = new URL(data.next, baseUrl).searchParams.get("cursor") ?? undefined;
}
expect(seen === 2, "both orders");

// An answer without a body.
const removed = await partner.DELETE("/books/{id}", { params: { path: { id } } });
expect(removed.response.status === 204 && removed.data === undefined, "no content");

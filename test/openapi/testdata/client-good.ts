// What a program in TypeScript makes of good.json.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

type Book = components["schemas"]["Book"];

export async function firstTitle(baseUrl: string): Promise<string | undefined> {
  const client = createClient<paths>({ baseUrl });
  const { data, error } = await client.GET("/books", { params: { query: { page: 1, order: ["-price"] } } });
  if (error !== undefined) {
    throw new Error(error.detail ?? "no detail");
  }
  const first: Book | undefined = data.items[0];
  return first?.title;
}

export async function remove(baseUrl: string, id: number): Promise<boolean> {
  const { response } = await createClient<paths>({ baseUrl }).DELETE("/books/{id}", { params: { path: { id } } });
  return response.status === 204;
}

// @ts-expect-error there is no such path
void createClient<paths>({ baseUrl: "" }).GET("/authors").catch(() => {});

declare const process: { argv: string[] };
const [, , address] = process.argv;
if (address !== undefined) {
  console.log(await firstTitle(address));
}

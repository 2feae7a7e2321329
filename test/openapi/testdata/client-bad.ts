// A client that good.json refutes: the path takes an id, and it is a number.
import createClient from "openapi-fetch";
import type { paths } from "./schema";

const client = createClient<paths>({ baseUrl: "" });
export const wrongType = client.GET("/books/{id}", { params: { path: { id: "seven" } } });
export const missing = client.GET("/books/{id}");

import type { ClientOptions } from "./options.js";
import type { Client } from "./types.js";

/** Returns a client of one server. It sends nothing yet. */
export function createClient(_options: ClientOptions = {}): Client {
  throw new Error("not built yet");
}

import { createClient } from "@spool/client";

/** The client of this server. Browsers have none of its token. */
export function spool() {
  return createClient({ baseUrl: process.env.SPOOL_URL ?? "http://127.0.0.1:8080", token: process.env.SPOOL_TOKEN });
}

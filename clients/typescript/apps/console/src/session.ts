// The server that the page came from, and the token with which it is asked.
import { type Client, createClient } from "@spool/client";

/** Where the API is: beside the page, whatever path the page has. */
export const base = new URL(".", document.baseURI).href.replace(/\/$/, "");

const key = "spool:token";
let token = read();

function read(): string {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** Keeps the token until the tab is closed. It is in no URL. */
export function setToken(value: string): void {
  token = value;
  try {
    if (value === "") {
      sessionStorage.removeItem(key);
    } else {
      sessionStorage.setItem(key, value);
    }
  } catch {
    // The browser refuses its storage: the token lasts until the page is left.
  }
}

export function hasToken(): boolean {
  return token !== "";
}

const refused = new Set<() => void>();

/** Calls a function when the server refuses the credentials, such as a token that has expired. The result ends that. */
export function onRefused(tell: () => void): () => void {
  refused.add(tell);
  return () => refused.delete(tell);
}

/** The client of all screens. Cookies go to the same origin only. */
export const client: Client = createClient({
  baseUrl: base,
  fetch: async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.status === 401) {
      for (const tell of refused) {
        tell();
      }
    }
    return answer;
  },
  credentials: "same-origin",
  token: () => token || null,
});

/** What a server says about itself to those who operate it. */
export interface About {
  readonly name: string;
  readonly server?: Readonly<Record<string, string>>;
}

/** Reads what the server says about itself. */
export async function readAbout(): Promise<About> {
  const answer = await fetch(`${base}/`, {
    headers: { Accept: "application/json", ...(token !== "" && { Authorization: `Bearer ${token}` }) },
    credentials: "same-origin",
  });
  return answer.ok && answer.headers.get("Content-Type")?.startsWith("application/json") === true
    ? ((await answer.json()) as About)
    : { name: "Spool" };
}

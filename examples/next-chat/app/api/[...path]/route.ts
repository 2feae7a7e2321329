// Lets browsers reach Spool with the token of this server. Decide here who may: look at your session, and answer with 401
// otherwise. Only what a chat needs is passed on, so nothing below /api/admin.
const allowed = /^\/api\/(agent\/(run|control|respond|history|stream|usage|branches|artifacts)|threads)(\/|$)/;
const sent = ["accept", "content-type", "idempotency-key", "last-event-id"];
const returned = ["content-type", "cache-control", "retry-after", "x-request-id", "x-accel-buffering"];

async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  if (!allowed.test(pathname)) {
    return Response.json({ error: "there is no such path", code: "not_found" }, { status: 404 });
  }
  // Pages of other sites must not use the cookies of this one.
  if (!["same-origin", "none", null].includes(request.headers.get("sec-fetch-site"))) {
    return Response.json({ error: "pages of other sites may not use this", code: "forbidden" }, { status: 403 });
  }
  const headers = pick(request.headers, sent);
  if (process.env.SPOOL_TOKEN) {
    headers.set("authorization", `Bearer ${process.env.SPOOL_TOKEN}`);
  }
  const answer = await fetch(`${process.env.SPOOL_URL ?? "http://127.0.0.1:8080"}${pathname}${search}`, {
    method: request.method,
    headers,
    body: request.method === "GET" || request.method === "HEAD" ? null : await request.arrayBuffer(),
    cache: "no-store",
    // The reader of an event stream has gone, so this server's connection ends too.
    signal: request.signal,
  });
  return new Response(answer.body, { status: answer.status, headers: pick(answer.headers, returned) });
}

function pick(from: Headers, names: readonly string[]): Headers {
  const to = new Headers();
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) {
      to.set(name, value);
    }
  }
  return to;
}

export const dynamic = "force-dynamic";
export { forward as DELETE, forward as GET, forward as PATCH, forward as POST };

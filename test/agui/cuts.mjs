// Reads recorded streams from the standard input, feeds the official client with them, and cuts them wherever
// they can be cut. It writes how much it has checked as JSON, or what is wrong.
import { readFileSync } from "node:fs";
import { feed, newClient, shown } from "./client.mjs";

const text = (bytes) => Buffer.from(bytes).toString("utf8");
let checks = 0;

/** The id that a client knows which has read these bytes. */
function idOf(bytes) {
  const whole = text(bytes);
  const read = whole.slice(0, whole.lastIndexOf("\n\n") + 2);
  const ids = [...read.matchAll(/^id: (.*)$/gm)];
  return ids.length > 0 ? ids.at(-1)[1] : "";
}

/** The places behind each message of the body. */
function boundaries(bytes) {
  const at = [0];
  for (let i = bytes.indexOf("\n\n"); i >= 0; i = bytes.indexOf("\n\n", i + 2)) at.push(i + 2);
  return at;
}

async function check(what, want, connections) {
  checks++;
  const client = newClient("t");
  try {
    for (const bytes of connections) await feed(client, bytes);
  } catch (err) {
    throw new Error(`${what}: ${err.message}\n${connections.map(text).join("\n--- and then\n")}`);
  }
  if (want !== undefined && shown(client) !== want) {
    throw new Error(`${what}: the client shows\n${shown(client)}\nwant\n${want}\nafter\n${connections.map(text).join("\n--- and then\n")}`);
  }
  return client;
}

async function story(s) {
  const full = Buffer.from(s.full);
  const fresh = await check(`${s.name}: at the end`, undefined, [Buffer.from(s.resumes[""])]);
  const want = shown(fresh);
  await check(`${s.name}: without a cut`, want, [full]);

  const cuts = new Set(boundaries(full));
  for (let at = 0; at < full.length && at < s.bytes; at += s.every) cuts.add(at);
  for (const at of cuts) {
    const read = full.subarray(0, at);
    const back = s.resumes[idOf(read)];
    if (back === undefined) throw new Error(`${s.name}: nothing recorded for the id ${idOf(read)}`);
    await check(`${s.name}: cut at byte ${at}`, want, [read, Buffer.from(back)]);
  }
  for (const [i, live] of s.live.entries()) {
    const body = Buffer.from(live.body);
    await check(`${s.name}: connection ${i} in the middle`, want, [body]);
    const read = full.subarray(0, boundaries(full).findLast((at) => idOf(full.subarray(0, at)) === live.have));
    await check(`${s.name}: back as connection ${i} with ${live.have}`, want, [read, body]);
    if (i % 4 > 1) continue; // of each second pair
    for (const at of boundaries(body)) {
      const back = s.resumes[idOf(body.subarray(0, at)) || live.have];
      if (back === undefined) continue; // an id between two frames of the recorded stream
      await check(`${s.name}: connection ${i} cut at ${at}`, want, [read, body.subarray(0, at), Buffer.from(back)]);
    }
  }
  for (const word of s.events) {
    if (!text(full).includes(`"type":"${word}"`)) throw new Error(`${s.name}: there is no ${word} in\n${text(full)}`);
  }
}

try {
  for (const s of JSON.parse(readFileSync(0, "utf8"))) await story(s);
  console.log(JSON.stringify({ checks }));
} catch (err) {
  console.log(JSON.stringify({ checks, problem: err.message }));
  process.exitCode = 1;
}

// Checked by tsc: what the types promise to those who use the package.
import { assertType, expectTypeOf } from "vitest";
import { createAdmin } from "./admin.js";
import {
  type ActionResult,
  type Client,
  createClient,
  createThreadStore,
  emptyView,
  eventSourceStream,
  type Frame,
  type Message,
  type Park,
  reduce,
  type SendResult,
  type Snapshot,
  SpoolError,
  type ThreadState,
  type ThreadView,
} from "./index.js";
import { type RecordVersion, readRecord, type ThreadRecord } from "./record/index.js";
import { scriptedServer } from "./testing/index.js";

const client = createClient({
  baseUrl: "http://127.0.0.1:8080",
  token: async () => "k",
  headers: () => ({ "X-Own": "1" }),
  routes: { run: "/chat", history: ({ threadId }) => `/h/${threadId}` },
  openStream: eventSourceStream(),
});
expectTypeOf(client).toEqualTypeOf<Client>();
createClient({ fetch: scriptedServer().fetch });
// @ts-expect-error an unknown option
createClient({ url: "http://127.0.0.1:8080" });
// @ts-expect-error an unknown route
createClient({ routes: { chat: "/chat" } });

// A start needs a prompt, and takes fields of the host's own.
void client.run({ prompt: "Hi", fields: { shop: 7 } });
// @ts-expect-error a word that no server knows
void client.run({ prompt: "Hi", whenbusy: "steer" });
// @ts-expect-error no prompt
void client.run({ threadId: "t1" });
// @ts-expect-error an unknown policy
void client.run({ prompt: "Hi", whenBusy: "wait" });

// Frames are a union to switch on.
async function watch(): Promise<void> {
  for await (const frame of client.follow("t1", { cursor: "1 - -" })) {
    expectTypeOf(frame).toEqualTypeOf<Frame>();
    if (frame.kind === "thread" && frame.event.type === "STATE_CHANGE") {
      assertType<string>(frame.event.payload.state);
      // @ts-expect-error that is of another kind
      frame.event.payload.branchId;
    }
    if (frame.kind === "stream" && frame.item.type === "TEXT_MESSAGE_CONTENT") assertType<string>(frame.item.delta);
    if (frame.kind === "snapshot") expectTypeOf(frame.snapshot.messages).toEqualTypeOf<Message[]>();
  }
}
void watch;

// A view is read only.
expectTypeOf(reduce).returns.toEqualTypeOf<ThreadView>();
expectTypeOf(emptyView.parks).toEqualTypeOf<readonly Park[]>();
// @ts-expect-error a view does not change
emptyView.messages.push({});
// @ts-expect-error a view does not change
emptyView.cursor = null;

const store = createThreadStore(client, { threadId: null, pageSize: 50, shareTabs: "ann" });
expectTypeOf(store.getSnapshot()).toEqualTypeOf<ThreadState>();
expectTypeOf(store.send("Hi", { model: "m", whenBusy: "steer" })).resolves.toEqualTypeOf<SendResult>();
expectTypeOf(store.respond("c1", { approved: true, arguments: { to: "ann" } })).resolves.toEqualTypeOf<ActionResult>();
void store.send("Hi", {
  fields: { shop: 7 },
  attachments: [new File([], "a.txt"), { url: "https://example.com/a.png" }],
});
// @ts-expect-error a word that no server knows
void store.send("Hi", { whenbusy: "steer" });
expectTypeOf(store.regenerate()).resolves.toEqualTypeOf<SendResult>();
// @ts-expect-error the store knows the thread
void store.send("Hi", { threadId: "t1" });
// @ts-expect-error a model is a name
void store.send("Hi", { model: 5 });

// A failure has a reason for a program, of known and other words.
const error = new SpoolError("conflict", "no", { field: "prompt" });
assertType<string>(error.code);
assertType<number | undefined>(error.retryAfterMs);
if (error.code === "queue_full") void 0;

// A record is read from what a client, a file or a text has.
const record = await readRecord(await client.record("t1"), { maxLine: 1000 });
expectTypeOf(record).toEqualTypeOf<ThreadRecord>();
expectTypeOf(record.versions).toEqualTypeOf<readonly RecordVersion[]>();
expectTypeOf(record.at(1)).toEqualTypeOf<Snapshot>();
expectTypeOf(client.snapshotAt("t1", { seq: 7 })).resolves.toEqualTypeOf<Snapshot>();
void readRecord(new Blob());
// @ts-expect-error neither a version nor a seq
void client.snapshotAt("t1", {});
// @ts-expect-error no version
void client.fork("t1", {});
// @ts-expect-error a version does not change
record.versions[0].version = 2;

const admin = createAdmin(client);
void admin.runs({ state: "FAILED" });
// @ts-expect-error an unknown state
void admin.runs({ state: "LOST" });

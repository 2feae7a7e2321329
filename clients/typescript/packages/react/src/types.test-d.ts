// What a TypeScript user relies on. "npm run types" checks it.
import type { Client, Snapshot, SpoolError } from "@spool/client";
import { expectTypeOf } from "vitest";
import {
  type Interrupt,
  type ShownMessage,
  type ShownToolCall,
  SpoolProvider,
  useInterrupts,
  useMessage,
  useMessages,
  useRun,
  useSpool,
  useThread,
  useThreadActions,
  useThreadState,
} from "./index.js";

expectTypeOf(useMessages).returns.toEqualTypeOf<readonly string[]>();
expectTypeOf(useMessage).returns.toEqualTypeOf<ShownMessage | null>();
expectTypeOf(useInterrupts).returns.toEqualTypeOf<readonly Interrupt[]>();
expectTypeOf(useSpool().client).toEqualTypeOf<Client>();
expectTypeOf(useThread().send).toEqualTypeOf(useThreadActions().send);
expectTypeOf(useThread().error).toEqualTypeOf<SpoolError | null>();
expectTypeOf(useRun()?.state).toEqualTypeOf<NonNullable<ReturnType<typeof useRun>>["state"] | undefined>();

// A selector decides what is returned.
expectTypeOf(useThreadState((state) => state.messages.length)).toEqualTypeOf<number>();
expectTypeOf(useThreadState(({ view }) => view.thread.title, { equal: (a, b) => a === b })).toEqualTypeOf<string>();

// The parts of a message are told apart by their type.
declare const message: ShownMessage;
for (const part of message.parts) {
  if (part.type === "tool-call") {
    expectTypeOf(part).toEqualTypeOf<ShownToolCall>();
  } else if (part.type === "text") {
    expectTypeOf(part.text).toEqualTypeOf<string>();
  }
}

// A provider needs nothing, and takes a client or the options of one.
declare const snapshot: Snapshot;
SpoolProvider({});
SpoolProvider({ baseUrl: "https://agents.example", token: async () => "secret", threadId: "t" });
SpoolProvider({ initialSnapshot: snapshot, persistence: false, labels: { failed: (why) => `Failed: ${why}` } });
// @ts-expect-error: no such phase
SpoolProvider({ labels: { working: "Working" } });
// @ts-expect-error: a persistence reads and writes
SpoolProvider({ persistence: { read: () => null } });

// Actions return what came of them.
const sent = await useThread("t").send("Hello", { whenBusy: "enqueue" });
if (sent.ok) {
  expectTypeOf(sent.threadId).toEqualTypeOf<string>();
} else {
  expectTypeOf(sent.error).toEqualTypeOf<SpoolError>();
}

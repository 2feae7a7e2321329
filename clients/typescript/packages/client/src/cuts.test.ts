// A client whose connections are cut at random bytes, while another one does random things with the same thread, against
// a real server (SPOOL_BIN: see test/tsclient). After each of them both show what a new snapshot has. SPOOL_TEST_CUTS is how
// many seconds that takes, and SPOOL_TEST_SEED is where it begins: a failure names both. Without SPOOL_BIN, nothing runs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "./client.js";
import { baseUrl, idle, kill, program, remove, same, serve, until } from "./live.test-util.js";
import { createThreadStore } from "./store/store.js";
import type { ThreadState, ThreadStore } from "./types.js";

const seconds = Number(process.env.SPOOL_TEST_CUTS ?? 15);
const seed = Number(process.env.SPOOL_TEST_SEED ?? 1);

/** Numbers that look random, the same ones for the same seed. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A number below a bound. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % bound;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

interface Network {
  /** Nothing is cut: what was missed comes. */
  calm: boolean;
  cuts: number;
}

/** A network that is away for a while, refuses, and breaks streams at any byte. */
function cutting(dice: Dice, network: Network): typeof globalThis.fetch {
  return async (input, init) => {
    if (network.calm || !String(input).includes("/stream")) return globalThis.fetch(input, init);
    if (dice.below(4) === 0) await new Promise((resolve) => setTimeout(resolve, dice.below(1_500)));
    if (dice.below(10) === 0) throw new TypeError("fetch failed");
    if (dice.below(10) === 0) return new Response("<h1>Bad Gateway</h1>", { status: 502 });
    const response = await globalThis.fetch(input, init);
    let left = dice.of([0, 50, 400, 2_000]) + dice.below(400);
    const how = dice.below(2);
    const bytes = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        controller.enqueue(network.calm ? piece : piece.slice(0, left));
        left -= piece.length;
        if (network.calm) left = Number.POSITIVE_INFINITY;
        if (left > 0) return;
        network.cuts++;
        if (how === 0) controller.terminate();
        else controller.error(new TypeError("network error"));
      },
    });
    return new Response(response.body?.pipeThrough(bytes) ?? null, response);
  };
}

const approval = 'use send_email with {"to":"ann@example.com"}';
const prompts = [
  "Hello",
  "slow 3",
  "slow 8",
  "use clock",
  approval,
  "ask researcher to use clock",
  `ask mailer to ${approval}`,
];

/** Does something with the thread, and returns what it was. */
async function act(store: ThreadStore, dice: Dice): Promise<string> {
  const { view } = store.getSnapshot();
  const turns = view.messages.filter((m) => m.role === "user" && m.agentId === null);
  const turn = turns[dice.below(Math.max(1, turns.length))];
  const prompt = dice.of(prompts);
  switch (dice.below(turn ? 5 : 1)) {
    case 1:
      await store.edit(turn?.id ?? "", prompt);
      return `edit ${prompt}`;
    case 2: {
      await store.loadBranches();
      const branches = store.getSnapshot().branches ?? [];
      if (branches.length > 0) await store.restoreBranch(dice.of(branches).id);
      return "restore";
    }
    case 3: {
      const whenBusy = dice.of(["enqueue", "latest", "interrupt", "rollback", "steer"] as const);
      await store.send("slow 8");
      await until(store, (s) => s.view.drafts.length > 0 || idle(s));
      const second = store.send(prompt, { whenBusy });
      if (dice.below(3) === 0) await store.send("Last", { whenBusy: "enqueue" });
      await second;
      return `${whenBusy} ${prompt}`;
    }
    case 4:
      await store.send("slow 8");
      await until(store, (s) => s.view.drafts.length > 0 || idle(s));
      await store.stop();
      return "stop";
    default:
      await store.send(prompt);
      return prompt;
  }
}

const over = (s: ThreadState) => idle(s) && s.view.queue.length === 0;

/** Answers what is asked until the thread is idle. */
async function settle(store: ThreadStore, dice: Dice): Promise<void> {
  for (;;) {
    const asks = (s: ThreadState) => s.view.thread.state === "WAITING_FOR_INPUT" && s.view.parks.length > 0;
    const state = await until(store, (s) => over(s) || asks(s));
    if (over(state)) return;
    for (const { toolCallId } of state.view.parks) {
      if (dice.below(5) === 0) await store.stop();
      else await store.respond(toolCallId, { approved: dice.below(2) === 0 });
    }
    await until(store, (s) => !asks(s) || s.view.parks[0]?.toolCallId !== state.view.parks[0]?.toolCallId);
  }
}

describe.skipIf(!program)("a client whose connections are cut", { timeout: seconds * 1_000 + 120_000 }, () => {
  beforeAll(serve);
  afterAll(remove);

  test(`shows what a snapshot has, from seed ${seed} for ${seconds} seconds`, async () => {
    const network: Network = { calm: true, cuts: 0 };
    const ends = Date.now() + seconds * 1_000;
    for (let round = seed; Date.now() < ends; round++) {
      const dice = new Dice(round);
      const backoff = { minMs: 20, maxMs: 200 };
      const store = createThreadStore(createClient({ baseUrl, backoff }));
      const fetch = cutting(new Dice(-round), network);
      const seen = createThreadStore(createClient({ baseUrl, backoff, fetch }));
      const done: string[] = [];
      store.subscribe(() => {});
      seen.subscribe(() => {});
      try {
        await store.send("Hello");
        seen.select(store.getSnapshot().threadId ?? "");
        for (let i = 0; i < 4; i++) {
          network.calm = false;
          done.push(await act(store, dice));
          if (round % 5 === 4 && dice.below(4) === 0) {
            done.push("kill");
            await kill();
            await serve();
          }
          await settle(store, dice);
          network.calm = true;
          await same(store, 20_000);
          await same(seen, 20_000);
        }
      } catch (cause) {
        throw new Error(`SPOOL_TEST_SEED=${round}: ${done.join(", ")}`, { cause });
      } finally {
        store.close();
        seen.close();
      }
    }
    expect(network.cuts).toBeGreaterThan(0);
  });
});

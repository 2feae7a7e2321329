import { backoffWait } from "../backoff.js";
import { asError, passing } from "../error.js";
import { settledRuns, untold } from "../reduce/missed.js";
import type { State } from "../wire.js";
import { isOver } from "../wire.js";
import type { Core } from "./core.js";

/** How long the entries behind a cursor may take to say how a run has ended. */
const entriesMs = 1_000;

/** Asks the server for runs that have ended while a store was away. */
export class Missed {
  /** Runs that are not asked for again, whatever the answer. */
  readonly #asked = new Set<string>();
  /** The server says when runs have ended. */
  #timed = true;
  #waits = false;
  #failures = 0;

  constructor(
    readonly core: Core,
    readonly threadId: string,
    readonly signal: AbortSignal,
  ) {}

  /** Looks whether the view that is shown knows how its runs are. */
  look(): void {
    if (this.#waits || this.#wanted().length === 0) return;
    this.#waits = true;
    this.core.later(this.#failures > 0 ? backoffWait(undefined, this.#failures, 0) : entriesMs, async () => {
      await this.#ask();
      this.#waits = false;
      this.look();
    });
  }

  #wanted(): readonly string[] {
    return untold(this.core.state.view, this.#timed).flatMap(({ id }) => (this.#asked.has(id) ? [] : [id]));
  }

  async #ask(): Promise<void> {
    const { core, threadId, signal } = this;
    const wanted = this.#wanted();
    if (wanted.length === 0) return;
    let failed = false;
    try {
      const { runs = [] } = await core.client.history(threadId, { limit: 1, signal });
      if (signal.aborted) return;
      core.show(settledRuns(core.state.view, runs));
      const over = runs.filter(({ id, state }) => wanted.includes(id) && isOver(state as State));
      this.#timed &&= over.every(({ endedAt }) => endedAt);
    } catch (thrown) {
      failed = passing(asError(thrown));
    }
    this.#failures = failed ? this.#failures + 1 : 0;
    if (!failed) for (const id of wanted) this.#asked.add(id);
  }
}

// What a run waits for: answers, work that goes on elsewhere, the next attempt, the model's provider.
import { type AnyEvent, endedOf, pendingOf } from "../fold/entry.js";
import { parksAfter } from "../fold/parks.js";
import { put, without } from "../fold/share.js";
import type { ThreadView } from "../view.js";

/** The view after what an entry says of what a run waits for. */
export function withWait(view: ThreadView, e: AnyEvent): ThreadView {
  switch (e.type) {
    case "CALL_PENDING": {
      const call = pendingOf(e);
      const pending = put(view.pending, call, (o) => o.toolCallId === call.toolCallId && o.runId === call.runId);
      return { ...view, pending };
    }
    case "RUN_STARTED":
    case "RUN_ENDED": {
      const retry = e.type === "RUN_ENDED" ? endedOf(e).retry : null;
      return !retry && !view.retry && view.providerWaits.length === 0 ? view : { ...view, retry, providerWaits: [] };
    }
    default: {
      const parks = parksAfter(view.parks, e);
      return parks === view.parks ? view : { ...view, parks };
    }
  }
}

/** The view without the waits of all runs but one. `""`: of all. */
export function waitOnly(view: ThreadView, run: string): ThreadView {
  const goes = (wait: { runId: string }) => run === "" || wait.runId !== run;
  const [parks, pending] = [without(view.parks, goes), without(view.pending, goes)];
  const retry = view.retry && goes(view.retry) ? null : view.retry;
  const same = parks === view.parks && pending === view.pending && retry === view.retry;
  return same ? view : { ...view, parks, pending, retry };
}

/** The view without the wait of an agent for the model's provider, which ends with its next item. */
export function noProviderWait(view: ThreadView, agentId: string): ThreadView {
  const providerWaits = without(view.providerWaits, (w) => (w.agentId ?? "") === agentId);
  return providerWaits === view.providerWaits ? view : { ...view, providerWaits };
}

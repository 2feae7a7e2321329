// What a run waits for: answers, work that goes on elsewhere, the next attempt, the model's provider.
import { type AnyEvent, endedOf, pendingOf } from "../fold/entry.js";
import { parksAfter } from "../fold/parks.js";
import { having, put, without } from "../fold/share.js";
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
      return having(view, { retry, providerWaits: without(view.providerWaits, () => true) });
    }
    default:
      return having(view, { parks: parksAfter(view.parks, e) });
  }
}

/** The view without the waits of all runs but one. `""`: of all. */
export function waitOnly(view: ThreadView, run: string): ThreadView {
  const goes = (wait: { runId: string }) => run === "" || wait.runId !== run;
  const retry = view.retry && goes(view.retry) ? null : view.retry;
  return having(view, { parks: without(view.parks, goes), pending: without(view.pending, goes), retry });
}

/** The view without the wait of an agent for the model's provider, which ends with its next item. */
export function noProviderWait(view: ThreadView, agentId: string): ThreadView {
  return having(view, { providerWaits: without(view.providerWaits, (w) => (w.agentId ?? "") === agentId) });
}

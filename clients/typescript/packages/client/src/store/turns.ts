// Turns that are shown before the server has them as messages.
import { SpoolError } from "../error.js";
import { textOf } from "../reduce/entry.js";
import type { OptimisticTurn } from "../types.js";
import type { ThreadView, ViewMessage } from "../view.js";
import { isActive, type QueuedRun, type State } from "../wire.js";

/** How far the clocks of a client and of its host may be apart. */
const skewMs = 10_000;

const isTurn = (m: ViewMessage) => m.role === "user" && m.agentId == null;

/**
 * Returns the turns that a view does not have as messages, with their places in its queue. `old` is the view before.
 * `lost` is why a run that waited will never begin.
 */
export function settled(
  turns: readonly OptimisticTurn[],
  view: ThreadView,
  old: ThreadView,
): { turns: readonly OptimisticTurn[]; lost: SpoolError | null } {
  if (turns.length === 0) return { turns, lost: null };
  const messages = view.messages.filter(isTurn);
  // By their text, only new messages count: those that were there are of other turns.
  const had = new Set(old.messages.map((m) => m.id));
  const shown = messages.findLastIndex((m) => had.has(m.id));
  const isNew = (m: ViewMessage, turn: OptimisticTurn, i: number) =>
    !had.has(m.id) &&
    ((old.cursor !== null && i > shown) || Date.parse(m.createdAt ?? "") > Date.parse(turn.sentAt) - skewMs);
  let lost: SpoolError | null = null;
  const left = turns.flatMap((turn) => {
    const message = messages.find((m, i) => isOf(m, turn, () => isNew(m, turn, i)));
    if (message) {
      had.add(message.id);
      return [];
    }
    const place = view.queue.find((q) => isFor(q, turn));
    if (place) return [waiting(turn, place.runId, place.position)];
    const run = turn.runId === undefined ? undefined : view.runs.find((r) => r.id === turn.runId);
    if (run?.state && !isActive(run.state as State)) {
      if (run.state === "FAILED") lost = new SpoolError("conflict", run.error || "the run has failed", { result: run });
      return [];
    }
    // The answer to a start may come before the queue that has its run.
    return [turn.status === "queued" && view.queue !== old.queue ? started(turn) : turn];
  });
  return { turns: left.length === turns.length && left.every((t, i) => t === turns[i]) ? turns : left, lost };
}

const isFor = (q: QueuedRun, turn: OptimisticTurn) =>
  q.clientMessageId === turn.clientMessageId || q.runId === turn.runId;

/** Whether a message is the one of a turn. A host that does not know the id of the turn is told by the text. */
function isOf(m: ViewMessage, turn: OptimisticTurn, isNew: () => boolean): boolean {
  if (m.clientMessageId) return m.clientMessageId === turn.clientMessageId;
  if (m.runId && turn.runId && m.runId !== turn.runId) return false;
  return textOf(m.content) === turn.prompt && isNew();
}

function waiting(turn: OptimisticTurn, runId: string, position: number): OptimisticTurn {
  if (turn.status === "queued" && turn.position === position && turn.runId === runId) return turn;
  return { ...turn, status: "queued", runId, position };
}

/** The turn when it is its run's time. */
function started({ position: _, ...turn }: OptimisticTurn): OptimisticTurn {
  return { ...turn, status: "accepted" };
}

// When a view that came as a stream is the one of a fresh snapshot.
import type { Snapshot, State, ThreadState, ViewMessage, ViewRun } from "@spool/client";
import { isActive } from "@spool/client";
import { textOf } from "@spool/react";

type View = ThreadState["view"];

/** What a run has used. Frames have it when the run has ended, or waits. */
const used = ["inputTokens", "cachedInputTokens", "outputTokens", "totalTokens", "costMicros", "currency"];

/**
 * The fields that only a snapshot has, so that a view that came as a stream has other values in them until it reads a
 * snapshot. All other fields are compared.
 */
const snapshotOnly = {
  /** A message that came as a stream, which the store knows by its place in the stream. It has no `createdAt` either. */
  streamedMessage: ["id", "createdAt"],
  /** Frames do not count steps and attempts, and do not say that an answer has raised a budget. The server computes the
   * durations when it is asked. */
  run: ["steps", "attempts", "tokenBudget", "durationMs", "queuedMs"],
  activeRun: used,
  /** A run that began while the page followed. `STATE_CHANGE` has its state, its times and what it has used. */
  followedRun: ["agent", "model", "enqueuedAt", "startedBy", "maxSteps"],
  /** `SUBAGENT_STARTED` and `SUBAGENT_FINISHED` have the place of a nested run in the tree, its agent and its state. */
  nestedRun: ["model", "prompt", "result", "startedAt", "endedAt", "stopReason", "maxSteps", ...used],
  /** The turn of a run that waits: it becomes a message when the run begins. */
  queued: ["content"],
  /** How far a view has read a stream: a snapshot names that of the last segment for a minute after its end. It has no
   * `STATE_CHANGE`. */
  reading: ["streamId", "offset", "runId"],
};

/** A snapshot has so many runs, the newest ones. A view that follows keeps those that it has. */
const snapshotRuns = 100;

/**
 * Returns two views in the form in which they are equal if the first one shows the thread as it is. `snapshot` is of a
 * fresh snapshot.
 *
 * Three things are in a snapshot, and no frame tells a page that was away or that follows: runs that were cancelled before
 * they began, runs that wait (`queue` has them), and the first turns of nested runs, which are the texts of the calls that
 * have started them.
 */
export function comparable(view: View, snapshot: View): [unknown, unknown] {
  const saved = new Set(snapshot.runs.map(({ id }) => id));
  const known = new Map(view.runs.map((run) => [run.id, run]));
  const streamed = new Set<number>();
  const own = view.messages.filter(isShared);
  for (const [i, { createdAt }] of own.entries()) {
    if (createdAt === undefined) {
      streamed.add(i);
    }
  }
  const waits = new Set([...view.queue, ...snapshot.queue].map(({ runId }) => runId));
  const form = ({ cursor, ...of }: View) => ({
    ...of,
    messages: of.messages
      .filter(isShared)
      .map((message, i) => (streamed.has(i) ? without(message, snapshotOnly.streamedMessage) : message)),
    runs: of.runs
      .filter(({ id }) => !waits.has(id) && (saved.size < snapshotRuns || saved.has(id)))
      .filter(({ id, state, steps }) => known.has(id) || state !== "CANCELLED" || steps > 0)
      .map((run) => without(run, fieldsOf(run, known.get(run.id)))),
    queue: of.queue.map((run) => without(run, snapshotOnly.queued)),
    reading: without(of.reading, snapshotOnly.reading),
    cursor: cursor?.split(" ")[0], // the rest is `reading`
  });
  return [form(view), form(snapshot)];
}

/**
 * Returns the states of the runs of the view, as the view shows them and as the server has them. The stream of a snapshot
 * is read by the same function as the view, so a mistake in it is in both, and only the snapshot's list of runs is right.
 */
export function statesOf(view: View, { runs }: Pick<Snapshot, "runs">): [unknown, unknown] {
  const states = (list: readonly { id: string; state: string }[], other: readonly { id: string }[]) =>
    Object.fromEntries(list.filter(({ id }) => other.some((run) => run.id === id)).map(({ id, state }) => [id, state]));
  return [states(view.runs, runs), states(runs, view.runs)];
}

/** Returns where two values differ, with both values. A field that is undefined is none. */
export function differences(a: unknown, b: unknown, path = ""): string[] {
  if (Object.is(a, b)) {
    return [];
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return [`${path}: ${JSON.stringify(a)} and not ${JSON.stringify(b)}`];
  }
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) =>
    differences(left[name], right[name], `${path}.${name}`),
  );
}

const isShared = ({ role, agentId }: ViewMessage) => role !== "user" || agentId === null;

/** Returns the fields of a run that are not compared. */
function fieldsOf(run: ViewRun, inView: ViewRun | undefined): string[] {
  if (run.depth > 0) {
    return [...snapshotOnly.run, ...snapshotOnly.nestedRun];
  }
  const fields = [...snapshotOnly.run];
  if (inView?.agent === "") {
    fields.push(...snapshotOnly.followedRun);
  }
  if (isActive(run.state as State)) {
    fields.push(...snapshotOnly.activeRun);
  }
  return fields;
}

function without(value: object, fields: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name)));
}

/** The texts of a state's messages in their order, for each agent. The run's own has the name "". */
export function textsOf({
  messages,
  view,
}: {
  messages: View["messages"];
  view: Pick<View, "drafts">;
}): Record<string, string[]> {
  return byAgent(
    [...messages, ...view.drafts]
      .filter((message) => message.role !== "tool" && isShared(message))
      .map(({ agentId, content }) => ({ agent: agentId ?? "", text: textOf(content) })),
  );
}

/** Texts in their order, for each agent. */
export function byAgent(texts: readonly { agent: string; text: string }[]): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const { agent, text } of texts) {
    all[agent] ??= [];
    all[agent].push(text);
  }
  return all;
}

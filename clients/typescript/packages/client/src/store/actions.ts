// What a user does with a thread, apart from sending turns.
import { asError, refusalOf, SpoolError } from "../error.js";
import { withOlder } from "../reduce/reduce.js";
import type { ActionResult, Answer, ThreadState } from "../types.js";
import type { Core } from "./core.js";

/** How long an accepted answer may take to show. */
const answeredMs = 5_000;

/**
 * Does something with the present thread. A failure is shown, unless the store shows another thread by then.
 */
export async function act(
  core: Core,
  work: (threadId: string) => Promise<Partial<ThreadState> | undefined>,
  pending: Partial<ThreadState> = {},
  after: () => Partial<ThreadState> = () => ({}),
): Promise<ActionResult> {
  const { generation } = core;
  const current = () => core.generation === generation;
  core.set({ error: null, ...pending });
  try {
    if (core.state.threadId === null) await core.creating;
    const { threadId } = core.state;
    if (threadId === null || !current()) throw new SpoolError("not_found", "there is no thread yet");
    const fields = await work(threadId);
    if (current()) core.set({ ...after(), ...fields });
    return { ok: true };
  } catch (thrown) {
    const error = asError(thrown);
    if (current()) core.set({ ...after(), error });
    return { ok: false, error };
  }
}

/** Stops the run. The state changes when the server says so. */
export function stop(core: Core, runId?: string): Promise<ActionResult> {
  return act(
    core,
    async (threadId) => {
      const result = await core.client.stop(threadId, runId === undefined ? {} : { runId });
      if (!result.accepted) throw refusalOf(result, "the run could not be stopped");
      return undefined;
    },
    { stopping: true },
    () => ({ stopping: false }),
  );
}

/** Answers a park, with the digest of the question that is shown. The question stays until the server says otherwise. */
export function respond(core: Core, toolCallId: string, answer: Answer): Promise<ActionResult> {
  const digest = answer.digest ?? core.state.view.parks.find((p) => p.toolCallId === toolCallId)?.digest;
  const { answering } = core.state;
  if (answering.includes(toolCallId)) {
    const error = new SpoolError("conflict", "This request is being answered", { reason: "already_answered" });
    return Promise.resolve({ ok: false, error });
  }
  let delivered = false;
  return act(
    core,
    async (threadId) => {
      const result = await core.client.respond(threadId, { toolCallId, ...answer, ...(digest && { digest }) });
      if (!result.delivered) throw refusalOf(result, "the answer was not accepted");
      delivered = true;
      core.later(answeredMs, () => {
        if (core.state.answering.includes(toolCallId)) core.refresh();
      });
      return undefined;
    },
    { answering: [...answering, toolCallId] },
    () => {
      const asks = delivered && core.state.view.parks.some((p) => p.toolCallId === toolCallId);
      return asks ? {} : { answering: core.state.answering.filter((id) => id !== toolCallId) };
    },
  );
}

/** Shows the messages of a branch again. They come with a snapshot. */
export function restoreBranch(core: Core, branchId: number): Promise<ActionResult> {
  return act(core, async (threadId) => {
    const result = await core.client.restoreBranch(threadId, branchId);
    if (!result.accepted) throw refusalOf(result, "the branch could not be restored");
    return undefined;
  });
}

export function loadUsage(core: Core): Promise<ActionResult> {
  return act(core, async (threadId) => ({ usage: await core.client.usage(threadId) }));
}

export function loadBranches(core: Core): Promise<ActionResult> {
  return act(core, async (threadId) => ({ branches: await core.client.branches(threadId) }));
}

/** Reads what was loaded before again, in the background. */
export async function reload(core: Core, what: "usage" | "branches"): Promise<void> {
  const { generation } = core;
  const { threadId } = core.state;
  if (threadId === null) return;
  const fields =
    what === "usage"
      ? { usage: await core.client.usage(threadId) }
      : { branches: await core.client.branches(threadId) };
  if (core.generation === generation) core.set(fields);
}

/** Reads the messages before those of the view. */
export async function loadOlder(core: Core): Promise<ActionResult> {
  const { hasOlder, loadingOlder, view } = core.state;
  const first = view.messages[0];
  if (!hasOlder || loadingOlder || !first) return { ok: true };
  const limit = core.options.pageSize ?? 100;
  return act(
    core,
    async (threadId) => {
      const { messages } = await core.client.history(threadId, { before: first.id, limit });
      const now = core.state.view;
      if (now.messages[0]?.id !== first.id) return undefined; // a snapshot or an edit has replaced the beginning
      const next = withOlder(now, messages);
      return { view: next, hasOlder: next !== now && messages.length === limit };
    },
    { loadingOlder: true },
    () => ({ loadingOlder: false }),
  );
}

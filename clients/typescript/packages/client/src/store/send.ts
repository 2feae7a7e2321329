// Sends turns, and shows them before the server has them.
import { asError, refusalOf, SpoolError } from "../error.js";
import type { OptimisticTurn, SendOptions, SendResult } from "../types.js";
import type { ViewMessage } from "../view.js";
import type { Part } from "../wire.js";
import { announced, attached, attachmentsOf } from "./attach.js";
import type { Core } from "./core.js";
import { report } from "./report.js";

/** Returns a new id for a turn. */
function newId(): string {
  if (typeof crypto !== "undefined" && "randomUUID" in crypto) return crypto.randomUUID();
  return `c-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`; // a page without TLS
}

/**
 * Sends a turn. It is shown at once; if the server does not accept it, everything is as it was before. The id of the
 * turn is also the idempotency key, so that a turn that is sent again arrives once.
 */
export async function send(
  core: Core,
  prompt: string,
  given: SendOptions,
  named: () => void,
  editMessageId?: string,
): Promise<SendResult> {
  const { generation } = core;
  const current = () => core.generation === generation;
  const { defaults } = core.options;
  const edited = core.state.view.messages.find((m) => m.id === editMessageId);
  const options = { ...defaults, ...(edited && { attachments: attachmentsOf(edited) }), ...given };
  const { clientMessageId = newId(), attachments: files = [], ...known } = options;
  const fields = { ...defaults?.fields, ...given.fields };
  const problem = editMessageId === undefined ? null : uneditable(core, editMessageId);
  if (problem) {
    core.set({ error: problem });
    return { ok: false, error: problem, clientMessageId };
  }
  const turn: OptimisticTurn = {
    clientMessageId,
    prompt,
    attachments: announced(files),
    status: "sending",
    sentAt: new Date().toISOString(),
    ...(known.whenBusy && { whenBusy: known.whenBusy }),
    ...(editMessageId !== undefined && { editMessageId }),
  };
  core.failed = null;
  core.set({
    error: null,
    unsent: null,
    turns: [...core.state.turns.filter((t) => t.clientMessageId !== clientMessageId), turn],
  });

  const before = core.creating;
  const work = async (): Promise<SendResult> => {
    // The first turn of a thread names it for the others.
    if (core.state.threadId === null) await before;
    if (!current()) throw new SpoolError("canceled", "another thread is shown");
    const { threadId } = core.state;
    const attachments = await attached(core.client, threadId, files);
    if (attachments.length > 0 && current()) core.turn(clientMessageId, { attachments });
    const request = {
      ...known,
      fields,
      prompt,
      clientMessageId,
      ...(threadId !== null && { threadId }),
      ...(editMessageId !== undefined && { editMessageId }),
      ...(attachments.length > 0 && { attachments }),
    };
    const result = await core.client.run(request, { idempotencyKey: clientMessageId });
    if (!result.accepted) throw refusalOf(result, "the turn was not accepted");
    const { runId, position } = result;
    const placement = { ...(runId && { runId }), ...(position && { position }) };
    if (current()) {
      core.turn(clientMessageId, { status: position ? "queued" : "accepted", ...placement });
      if (!position) core.expect(clientMessageId);
      if (core.state.threadId === null) {
        core.set({ threadId: result.threadId });
        report(() => core.options.onThread?.(result.threadId));
        named();
      } else {
        core.show(core.state.view); // its message may have come before this answer
      }
    }
    return { ok: true, threadId: result.threadId, clientMessageId, ...placement };
  };
  const done = work();
  core.creating = done.catch(() => undefined);
  try {
    return await done;
  } catch (thrown) {
    const error = asError(thrown);
    if (current()) {
      core.failed = { prompt, options: { ...given, clientMessageId }, editMessageId };
      core.set({ error, unsent: prompt, turns: core.state.turns.filter((t) => t.clientMessageId !== clientMessageId) });
    }
    return { ok: false, error, clientMessageId };
  }
}

/** Has a turn answered again. */
export async function regenerate(
  core: Core,
  messageId: string | undefined,
  given: SendOptions,
  named: () => void,
): Promise<SendResult> {
  const turns = core.state.view.messages.filter((m) => m.role === "user" && m.agentId == null);
  const turn = messageId === undefined ? turns.at(-1) : turns.find((m) => m.id === messageId);
  return send(core, turn ? textOf(turn) : "", given, named, turn?.id ?? messageId ?? "");
}

/** The text of a turn. */
function textOf({ content }: ViewMessage): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.map((part: Part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

function uneditable(core: Core, messageId: string): SpoolError | null {
  const message = core.state.view.messages.find((m) => m.id === messageId);
  const field = "editMessageId";
  if (!message) return new SpoolError("not_found", "Message not found", { field });
  if (message.role !== "user" || message.agentId != null) {
    return new SpoolError("invalid", "Only a user message can be edited", { field });
  }
  return null;
}

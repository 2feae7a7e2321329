// Answers of agents that do not stream, which only other servers have.
import type { ThreadView } from "../view.js";
import type { Content } from "../wire.js";

/** The text of a message. */
export function textOf(content: Content | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

/** The view with the answer of a run, unless the last turn has it already. */
export function answered(view: ThreadView, runId: string, text: unknown): ThreadView {
  if (typeof text !== "string" || !text) return view;
  const own = view.messages.filter((m) => m.agentId == null);
  const turn = own.findLastIndex((m) => m.role === "user");
  if (own.slice(turn + 1).some((m) => m.role === "assistant" && textOf(m.content) === text)) return view;
  const answer = {
    id: `${runId}:${view.messages.length}`,
    threadId: view.thread.id,
    role: "assistant" as const,
    content: text,
    ...(runId && { runId }),
    agentId: null,
  };
  return { ...view, messages: [...view.messages, answer] };
}

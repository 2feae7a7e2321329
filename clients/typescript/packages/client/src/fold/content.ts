// What an item says for the message of its agent's step.
import type { DraftPart } from "../view.js";
import type { Part } from "../wire.js";
import { type AnyItem, text } from "./item.js";

/** What an item says for a message. */
export interface Content {
  /** What it does to the part, which begins with it if it is new. `whole` has all of the part, or the result of a call. */
  readonly act: "begins" | "grows" | "ends" | "whole";
  readonly type: DraftPart["type"] | "tool-result";
  /** The name of a text in its stream, or the id of a call. */
  readonly id: string;
  /** What the part grows by: its text, or the arguments of a call as text. */
  readonly delta: string;
  /** The fields of the item. */
  readonly fields: { readonly [field: string]: unknown };
}

const acts = { START: "begins", CONTENT: "grows", ARGS: "grows", END: "ends", RESULT: "whole" } as const;
const types = { TEXT_MESSAGE: "text", REASONING: "reasoning", TOOL_CALL: "tool-call" } as const;
const kinds = /^(TEXT_MESSAGE|REASONING|TOOL_CALL)_(START|CONTENT|ARGS|END|RESULT)$/;

/** The content of an item. `undefined`: it is none. */
export function contentOf(item: AnyItem): Content | undefined {
  const { type, offset: _, ...fields } = item;
  if (type === "SOURCE" || type === "FILE") {
    const part = { ...fields, type: fields.image ? "image" : type.toLowerCase() } as Part;
    return { act: "whole", type: "whole", id: "", delta: "", fields: { part } };
  }
  const [, of, how] = kinds.exec(type) ?? [];
  if (!of) return undefined;
  const kind = how === "RESULT" ? "tool-result" : types[of as keyof typeof types];
  const id = text(of === "TOOL_CALL" ? item.toolCallId : item.messageId);
  return { act: acts[how as keyof typeof acts], type: kind, id, delta: text(item.delta), fields };
}

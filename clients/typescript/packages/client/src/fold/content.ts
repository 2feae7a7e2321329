// What an item says for the message of its agent's step.
import type { DraftPart } from "../view.js";
import { type AnyItem, text } from "./item.js";

/** What an item says for a message. */
export interface Content {
  readonly type: DraftPart["type"] | "tool-result";
  /** What it does to the part, which begins with it if it is new. `""`: it is all of the part. */
  readonly act: string;
  /** The name of a text in its stream, or the id of a call. */
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of the item
  readonly fields: any;
}

/** The content of an item. `undefined`: the item has no content. */
export function contentOf(item: AnyItem): Content | undefined {
  const { type, offset: _, ...fields } = item;
  if (type === "SOURCE" || type === "FILE") {
    return { type: "whole", act: "", id: "", fields: { ...fields, type: fields.image ? "image" : type.toLowerCase() } };
  }
  const [, of, act = ""] = /^(TEXT_MESSAGE|REASONING|TOOL_CALL)_(START|CONTENT|ARGS|END|RESULT)$/.exec(type) ?? [];
  if (!of) return undefined;
  const kindOfText = of === "REASONING" ? "reasoning" : "text";
  const kind = act === "RESULT" ? "tool-result" : of === "TOOL_CALL" ? "tool-call" : kindOfText;
  return { type: kind, act, id: text(item.toolCallId ?? item.messageId), fields };
}

// Why a call failed, for all pages that show one.
import { endOfCall } from "@spool/react";
import { visible } from "../ui/format.js";

/** How much of an error a line shows. */
const length = 200;

/** Returns why a call failed, from its result. Null: it did not. */
export function failureOf(result: unknown): string | null {
  if (endOfCall(result) !== "error") {
    return null;
  }
  const text = typeof result === "string" ? result.slice("error: ".length) : (result as { error: string }).error;
  return visible(text.length > length ? `${text.slice(0, length)}…` : text);
}

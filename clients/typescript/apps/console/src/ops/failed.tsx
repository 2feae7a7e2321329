import { SpoolError } from "@spool/client";
import type { ReactNode } from "react";
import { messageOf, Problem } from "../ui/parts.js";

/** Why a screen of operators has nothing to show. */
export function Failed({ error, scope = "admin" }: { error: unknown; scope?: string }): ReactNode {
  if (error === null) {
    return null;
  }
  const refused = error instanceof SpoolError && error.code === "forbidden";
  return <Problem>{refused ? `Your token does not have the scope ${scope}.` : messageOf(error)}</Problem>;
}

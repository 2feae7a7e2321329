"use client";

import type { ActionResult, Answer, Park, ThreadState } from "@spool/client";
import { useMemo } from "react";
import { type FromThread, useStore } from "./context.js";
import { sameItems } from "./present.js";
import { useSelected } from "./select.js";

/** A question that waits for an answer, with what answers it. */
export interface Interrupt extends Park {
  /** An answer of this client is on its way. */
  readonly answering: boolean;
  /** Lets the call run: `{ arguments }` has it run with others, and `{ payload }` is what a tool or a budget asks for. */
  approve(answer?: Omit<Answer, "approved">): Promise<ActionResult>;
  /** Refuses the call. The model reads the reason. */
  deny(reason?: string): Promise<ActionResult>;
  respond(answer: Answer): Promise<ActionResult>;
}

/** Returns the questions of the thread that wait for an answer, also those of nested runs, the oldest first. */
export function useInterrupts(from: FromThread = {}): readonly Interrupt[] {
  const store = useStore(from);
  const [parks, answering] = useSelected(store, partsOf, sameItems) as ReturnType<typeof partsOf>;
  return useMemo(
    () =>
      parks.map((park) => {
        const respond = (answer: Answer) => store.respond(park.toolCallId, answer);
        return {
          ...park,
          answering: answering.includes(park.toolCallId),
          approve: (answer = {}) => respond({ ...answer, approved: true }),
          deny: (reason) => respond({ approved: false, ...(reason !== undefined && { reason }) }),
          respond,
        };
      }),
    [store, parks, answering],
  );
}

function partsOf({ view, answering }: ThreadState) {
  return [view.parks, answering] as const;
}

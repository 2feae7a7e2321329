"use client";

import { isActive, type ThreadUsage } from "@spool/client";
import { useEffect } from "react";
import { type FromThread, useStore } from "./context.js";
import { useSelected } from "./select.js";

/** Returns what the thread has used, read anew after each run. `null`: it has not been read. */
export function useUsage(from: FromThread = {}): ThreadUsage | null {
  const store = useStore(from);
  const usage = useSelected(store, (state) => state.usage);
  const due = useSelected(store, ({ threadId, loading, view }) =>
    threadId === null || loading || isActive(view.thread.state) ? null : `${threadId} ${view.runs[0]?.id ?? ""}`,
  );
  useEffect(() => {
    if (due !== null) {
      void store.loadUsage();
    }
  }, [store, due]);
  return usage;
}

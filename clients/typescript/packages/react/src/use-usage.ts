"use client";

import type { ThreadUsage } from "@spool/client";
import { useEffect } from "react";
import { type FromThread, useStore } from "./context.js";
import { useSelected } from "./select.js";

/** Returns what the thread has used. The store reads it again after each step and run. `null`: it has not been read. */
export function useUsage(from: FromThread = {}): ThreadUsage | null {
  const store = useStore(from);
  const usage = useSelected(store, (state) => state.usage);
  const due = useSelected(store, ({ threadId, loading }) => (loading ? null : threadId));
  useEffect(() => {
    if (due !== null) {
      void store.loadUsage();
    }
  }, [store, due]);
  return usage;
}

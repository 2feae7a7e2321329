import { createSchedules, createWebhooks } from "@spool/client/automation";
import { useCallback, useState } from "react";
import { client } from "../session.js";
import { messageOf } from "../ui/parts.js";

export const schedules = createSchedules(client);
export const webhooks = createWebhooks(client);

/** What came of the last action. */
export interface Acting {
  readonly status: string;
  readonly problem: string;
  /** Whether an action is under way. */
  readonly busy: boolean;
  /** Does something, and says what came of it. */
  act(what: () => Promise<string>): Promise<void>;
}

/** Runs actions, one at a time, and calls a function behind each. */
export function useActing(after: () => void): Acting {
  const [state, setState] = useState({ status: "", problem: "", busy: false });
  const act = useCallback(
    async (what: () => Promise<string>) => {
      setState({ status: "", problem: "", busy: true });
      try {
        setState({ status: await what(), problem: "", busy: false });
      } catch (error) {
        setState({ status: "", problem: messageOf(error), busy: false });
      }
      after();
    },
    [after],
  );
  return { ...state, act };
}

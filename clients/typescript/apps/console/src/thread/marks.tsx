// The marks of the thread that is shown, and of its runs.
import type { ViewRun } from "@spool/client";
import { useThreadState } from "@spool/react";
import type { ReactNode } from "react";
import { StateMark } from "../ui/parts.js";
import { sameWait, waitOf } from "./wait.js";

/** The state of the thread. */
export function ThreadMark(): ReactNode {
  const state = useThreadState(({ view }) => view.thread.state);
  const wait = useThreadState(({ view }) => waitOf(view), sameWait);
  return <StateMark state={state} wait={wait} />;
}

/** The state of a run of the thread. */
export function RunMark({ run, quiet = false }: { run: ViewRun; quiet?: boolean }): ReactNode {
  const wait = useThreadState(({ view }) => waitOf(view, run), sameWait);
  return <StateMark state={run.state} wait={wait} quiet={quiet} />;
}

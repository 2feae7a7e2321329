import type { Run } from "@spool/client";
import type { ReactNode } from "react";
import { to } from "../route.js";
import { useWait } from "../threads/waits.js";
import { count, duration, moment, money } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { StateMark } from "../ui/parts.js";

/** The state of a run that is in a list, and what it waits for. */
export function ListedMark({ run }: { run: Run }): ReactNode {
  // Between two waits, a run saves a step, fails, or has another state.
  const wait = useWait(
    { threadId: run.threadId, run },
    run.state,
    `${run.id} ${run.state} ${run.steps} ${run.attempts}`,
    run,
  );
  return <StateMark state={run.state} wait={wait} />;
}

/** Runs, one in a line. */
export function RunTable({ runs }: { runs: readonly Run[] }): ReactNode {
  const now = useNow();
  return (
    <div className="wide">
      <table>
        <thead>
          <tr>
            <th>run</th>
            <th>state</th>
            <th>agent</th>
            <th>thread</th>
            <th className="num">accepted</th>
            <th className="num">time</th>
            <th className="num">steps</th>
            <th className="num">tokens</th>
            <th className="num">cost</th>
            <th>why</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td className="mono id">
                <a href={to.run(run.id)}>{run.id}</a>
              </td>
              <td>
                <ListedMark run={run} />
                {run.expired !== undefined && <span className="tag warn">nobody answered</span>}
              </td>
              <td>{run.agent}</td>
              <td className="mono id">
                <a href={to.thread(run.threadId)}>{run.threadId}</a>
              </td>
              <td className="num">{moment(run.enqueuedAt ?? run.startedAt, now)}</td>
              <td className="num">{duration(run.durationMs ?? now - new Date(run.startedAt).getTime())}</td>
              <td className="num">{run.steps}</td>
              <td className="num">{count(run.totalTokens)}</td>
              <td className="num">{run.costMicros ? money(run.costMicros, run.currency) : "–"}</td>
              <td className={run.error === undefined ? "faint" : "bad"}>
                {run.error ?? (run.stopReason === "completed" ? "" : run.stopReason)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

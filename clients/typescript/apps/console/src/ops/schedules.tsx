// What starts by itself: each schedule with its next due time and what came of the last one.
import type { Schedule, ScheduleTick } from "@spool/client/automation";
import { type ReactNode, useState } from "react";
import { to } from "../route.js";
import { due } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Empty, Problem } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { every } from "./admin.js";
import { schedules, useActing } from "./automation.js";
import { Failed } from "./failed.js";
import { ScheduleForm } from "./schedule-form.js";

export function Schedules(): ReactNode {
  const [making, setMaking] = useState(false);
  const { value, error, refresh } = usePoll("schedules", every, (signal) => schedules.list({ signal, limit: 500 }));
  const { act, status, problem, busy } = useActing(refresh);
  const now = useNow();
  return (
    <>
      <div className="ops-head">
        <h1>Schedules</h1>
        <span className="faint">Each starts a run when it comes due.</span>
        <span className="tools">
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            New schedule
          </button>
        </span>
      </div>
      <Failed error={error} scope="schedules" />
      <p role="status">{status}</p>
      {problem !== "" && <Problem>{problem}</Problem>}
      {value?.length === 0 && (
        <Empty title="Nothing starts by itself">
          <p className="faint">Make a schedule here, or write it into the section schedules of the configuration.</p>
        </Empty>
      )}
      {value !== null && value.length > 0 && (
        <div className="wide">
          <table>
            <thead>
              <tr>
                <th>name</th>
                <th>when</th>
                <th className="num">next</th>
                <th>last</th>
                <th>agent</th>
                <th>
                  <span className="sr">actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {value.map((one) => (
                <tr key={one.name}>
                  <td className="mono id">
                    <a href={to.schedule(one.name)}>{one.name}</a>
                  </td>
                  <td className="clip">{one.inWords}</td>
                  <td className="num">
                    <Next schedule={one} now={now} />
                  </td>
                  <td>{one.last === undefined ? <span className="faint">never</span> : <Tick tick={one.last} />}</td>
                  <td>{one.agent ?? <span className="faint">the default one</span>}</td>
                  <td>
                    <span className="tools">
                      <ScheduleActions schedule={one} busy={busy} act={act} />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {making && <ScheduleForm onClose={() => setMaking(false)} />}
    </>
  );
}

/** When a schedule comes due next, or why it does not. */
export function Next({ schedule, now }: { schedule: Schedule; now: number }): ReactNode {
  if (schedule.paused === true) {
    return <span className="tag">paused</span>;
  }
  if (schedule.nextAt === undefined) {
    return <span className="faint">over</span>;
  }
  return <time dateTime={schedule.nextAt}>{due(schedule.nextAt, now)}</time>;
}

const results: Record<string, string> = { refused: "refused", overlap: "the last run was active", missed: "missed" };

/** What came of a due time. */
export function Tick({ tick }: { tick: ScheduleTick }): ReactNode {
  if (tick.result === "started") {
    return tick.runId === undefined ? "started" : <a href={to.run(tick.runId)}>started</a>;
  }
  const word = results[tick.result] ?? tick.result;
  return (
    <span className={tick.result === "refused" ? "bad" : "faint"} title={tick.reason}>
      {(tick.count ?? 1) > 1 ? `${tick.count} ${word}` : word}
    </span>
  );
}

/** The actions on a schedule that need no question. */
export function ScheduleActions({
  schedule: { name, paused },
  busy,
  act,
}: {
  schedule: Schedule;
  busy: boolean;
  act: (what: () => Promise<string>) => Promise<void>;
}): ReactNode {
  const button = (text: string, what: () => Promise<string>) => (
    <button type="button" className="quiet" disabled={busy} onClick={() => void act(what)}>
      {text}
      <span className="sr"> {name}</span>
    </button>
  );
  return (
    <>
      {button("Run now", async () => {
        const tick = await schedules.run(name);
        return tick.result === "started"
          ? `${name} has started a run`
          : `${name} has started nothing: ${tick.reason ?? results[tick.result] ?? tick.result}`;
      })}
      {paused === true
        ? button("Resume", async () => {
            await schedules.resume(name);
            return `${name} comes due again`;
          })
        : button("Pause", async () => {
            await schedules.pause(name);
            return `${name} is paused`;
          })}
    </>
  );
}

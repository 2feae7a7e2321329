// One schedule: what it starts, its next due times, and what came of the last ones.
import type { Schedule } from "@spool/client/automation";
import { type ReactNode, useState } from "react";
import { go, to } from "../route.js";
import { count, due, inZone, moment } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Empty, Problem } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { every } from "./admin.js";
import { schedules, useActing } from "./automation.js";
import { type Fact, FactList } from "./facts.js";
import { Failed } from "./failed.js";
import { ScheduleForm } from "./schedule-form.js";
import { ScheduleActions, Tick } from "./schedules.js";
import { Sure } from "./sure.js";

export function SchedulePage({ name }: { name: string }): ReactNode {
  const [asked, setAsked] = useState<"" | "change" | "remove">("");
  const { value, error, refresh } = usePoll(`schedule ${name}`, every, (signal) => schedules.get(name, { signal }));
  const history = usePoll(`ticks ${name}`, every, (signal) => schedules.ticks(name, { signal }));
  const { act, status, problem, busy } = useActing(() => {
    refresh();
    history.refresh();
  });
  const now = useNow();
  const ticks = history.value ?? [];
  return (
    <>
      <div className="ops-head">
        <h1 className="clip mono">{name}</h1>
        {value?.paused === true && <span className="tag">paused</span>}
        {value !== null && (
          <span className="tools">
            <ScheduleActions schedule={value} busy={busy} act={act} />
            {value.fromFile !== true && (
              <>
                <button type="button" className="quiet" onClick={() => setAsked("change")}>
                  Change
                </button>
                <button type="button" className="danger" onClick={() => setAsked("remove")}>
                  Remove
                </button>
              </>
            )}
          </span>
        )}
      </div>
      <Failed error={error} scope="schedules" />
      <p role="status">{status}</p>
      {problem !== "" && <Problem>{problem}</Problem>}
      {value?.paused === true && value.pausedReason !== undefined && <Problem>{value.pausedReason}</Problem>}
      {value !== null && (
        <>
          <p>{value.inWords}</p>
          <FactList facts={factsOf(value, now)} />
          <section>
            <h2>It starts</h2>
            <p className="prompt">{value.prompt}</p>
          </section>
          <section>
            <h2>Next</h2>
            {value.next === undefined ? (
              <p className="faint">Nothing comes due.</p>
            ) : (
              <ol className="times">
                {value.next.map((at) => (
                  <li key={at}>
                    <time dateTime={at}>{inZone(at, value.zone)}</time> <span className="faint">{due(at, now)}</span>
                  </li>
                ))}
              </ol>
            )}
          </section>
          <section>
            <h2>What came of it</h2>
            {history.value !== null && ticks.length === 0 && <Empty title="It has not come due yet" />}
            {ticks.length > 0 && (
              <div className="wide">
                <table>
                  <thead>
                    <tr>
                      <th className="num">due</th>
                      <th className="num">came</th>
                      <th>result</th>
                      <th>run</th>
                      <th>why</th>
                    </tr>
                  </thead>
                  <tbody>
                    {ticks.map((tick) => (
                      <tr key={`${tick.seq}`}>
                        <td className="num">{tick.dueAt === undefined ? "run now" : moment(tick.dueAt, now)}</td>
                        <td className="num">{moment(tick.at, now)}</td>
                        <td>
                          <Tick tick={tick} />
                        </td>
                        <td className="mono id">
                          {tick.runId !== undefined && <a href={to.run(tick.runId)}>{tick.runId}</a>}
                        </td>
                        <td>{tick.reason}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </section>
        </>
      )}
      {asked === "change" && value !== null && (
        <ScheduleForm
          schedule={value}
          onClose={() => {
            setAsked("");
            refresh();
          }}
        />
      )}
      {asked === "remove" && (
        <Sure
          title={`Remove ${name}?`}
          about="Nothing comes due any more, and its history is gone. Its runs stay as they are."
          yes="Remove it"
          danger
          onYes={async () => {
            setAsked("");
            await act(async () => {
              await schedules.remove(name);
              go(to.schedules);
              return "";
            });
          }}
          onClose={() => setAsked("")}
        />
      )}
    </>
  );
}

function factsOf(one: Schedule, now: number): Fact[] {
  return [
    ["agent", one.agent],
    ["model", one.model],
    [
      "thread",
      one.threadId === undefined ? (
        "a new one for each run"
      ) : (
        <a key="t" href={to.thread(one.threadId)}>
          <span className="mono">{one.threadId}</span>
        </a>
      ),
    ],
    ["overlap", one.overlap ?? "skip"],
    ["missed", one.missed ?? "latest"],
    ["jitter", one.jitter],
    ["tokens", one.tokenBudget && `at most ${count(one.tokenBudget)}`],
    ["made by", one.fromFile === true ? "the configuration" : one.madeBy],
    ["made", moment(one.createdAt, now)],
    ["right ends", one.endsAt && moment(one.endsAt, now)],
  ];
}

// The jobs of the queue: what is stuck, what died, and what continues it.
import { type ReactNode, useState } from "react";
import { to } from "../route.js";
import { count, due } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Empty, messageOf, Problem } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { admin, every } from "./admin.js";
import { Failed } from "./failed.js";
import { Sure } from "./sure.js";

const states = [
  ["dead", "Dead"],
  ["stuck", "Stuck"],
  ["ready", "Ready"],
  ["delayed", "Delayed"],
  ["inflight", "In flight"],
] as const;

type JobState = (typeof states)[number][0];

const about: Record<JobState, string> = {
  dead: "No worker takes these any more. Redrive continues the run where it stopped.",
  stuck: "Due for more than 15 minutes: a worker is missing, or a call hangs.",
  ready: "A worker may take these now.",
  delayed: "These are due later, such as the end of the time to answer.",
  inflight: "A worker has these.",
};

export function Jobs(): ReactNode {
  const [state, setState] = useState<JobState>("dead");
  const [asked, setAsked] = useState<"" | "redrive" | "purge" | { forget: number }>("");
  const [status, setStatus] = useState("");
  const [problem, setProblem] = useState("");
  const { value, error, refresh } = usePoll(`jobs ${state}`, every, (signal) =>
    admin.jobs({ state, limit: 200, signal }),
  );
  const now = useNow();
  const jobs = value?.jobs ?? [];

  const act = async (what: () => Promise<string>) => {
    try {
      setProblem("");
      setStatus(await what());
    } catch (error) {
      setStatus("");
      setProblem(messageOf(error));
    }
    setAsked("");
    refresh();
  };
  const redrive = (request: { jobId: number } | { all: true }) =>
    act(async () => {
      const answer = await admin.redrive(request);
      return `${answer.redriven} redriven${answer.refused > 0 ? `, ${answer.refused} refused: ${answer.results.find((one) => !one.accepted)?.error}` : ""}`;
    });
  const purge = (request: { jobId: number } | { all: true }) =>
    act(async () => `${(await admin.purge(request)).purged} forgotten`);

  return (
    <>
      <div className="ops-head">
        <h1>Jobs</h1>
        <select
          aria-label="State of the jobs"
          value={state}
          onChange={(event) => setState(event.target.value as JobState)}
        >
          {states.map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
        <span className="faint">{about[state]}</span>
        {state === "dead" && jobs.length > 0 && (
          <span className="tools">
            <button type="button" onClick={() => setAsked("redrive")}>
              Redrive all
            </button>
            <button type="button" className="danger" onClick={() => setAsked("purge")}>
              Forget all
            </button>
          </span>
        )}
      </div>
      <Failed error={error} />
      <p role="status">{status}</p>
      {problem !== "" && <Problem>{problem}</Problem>}
      {value !== null && jobs.length === 0 && (
        <Empty title={`No job is ${state === "inflight" ? "in flight" : state}`} />
      )}
      {jobs.length > 0 && (
        <div className="wide">
          <table>
            <thead>
              <tr>
                <th className="num">job</th>
                <th>kind</th>
                <th>state</th>
                <th>run</th>
                <th>agent</th>
                <th className="num">attempts</th>
                <th className="num">first due</th>
                <th>why</th>
                <th>
                  <span className="sr">actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {jobs.map((job) => (
                <tr key={job.jobId}>
                  <td className="num">{job.jobId}</td>
                  <td>{job.kind.replaceAll("_", " ")}</td>
                  <td>{job.state}</td>
                  <td className="mono id">
                    <a href={to.run(job.runId)}>{job.runId}</a>
                  </td>
                  <td>{job.agent}</td>
                  <td className="num">{count(job.attempts)}</td>
                  <td className="num">{job.firstDueAt ? due(job.firstDueAt, now) : ""}</td>
                  <td className="bad">{job.cause}</td>
                  <td>
                    {job.state === "dead" && (
                      <span className="tools">
                        <button type="button" className="quiet" onClick={() => void redrive({ jobId: job.jobId })}>
                          Redrive
                        </button>
                        <button type="button" className="quiet bad" onClick={() => setAsked({ forget: job.jobId })}>
                          Forget
                        </button>
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {asked === "redrive" && (
        <Sure
          title="Redrive all dead jobs?"
          about="Up to 100 runs continue where they stopped. Those whose cause is not mended die again."
          yes="Redrive all"
          onYes={() => redrive({ all: true })}
          onClose={() => setAsked("")}
        />
      )}
      {asked === "purge" && (
        <Sure
          title="Forget all dead jobs?"
          about="Their runs stay as they are. Nobody can redrive them afterwards."
          yes="Forget all"
          danger
          onYes={() => purge({ all: true })}
          onClose={() => setAsked("")}
        />
      )}
      {typeof asked === "object" && (
        <Sure
          title={`Forget job ${asked.forget}?`}
          about="Its run stays as it is. Nobody can redrive it afterwards."
          yes="Forget it"
          danger
          onYes={() => purge({ jobId: asked.forget })}
          onClose={() => setAsked("")}
        />
      )}
    </>
  );
}

import { type ReactNode, useState } from "react";
import { go, to } from "../route.js";
import { Empty, messageOf, Problem } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { admin, every } from "./admin.js";
import { Failed } from "./failed.js";
import { RunTable } from "./run-table.js";

type Listed = Awaited<ReturnType<typeof admin.runs>>["runs"];

const states = ["QUEUED", "RUNNING", "WAITING_FOR_INPUT", "COMPLETED", "CANCELLED", "FAILED"] as const;

/** The runs of all threads. The first page is kept current. */
export function Runs(): ReactNode {
  const [state, setState] = useState("");
  const [agent, setAgent] = useState("");
  const [more, setMore] = useState<{ key: string; runs: Listed; next: string | undefined } | null>(null);
  const [problem, setProblem] = useState("");
  const query = {
    depth: 0,
    ...(state === "expired" ? { expired: true } : state !== "" && { state: state as (typeof states)[number] }),
    ...(agent.trim() !== "" && { agent: agent.trim() }),
  };
  const key = JSON.stringify(query);
  const { value, error } = usePoll(key, every, (signal) => admin.runs({ ...query, signal }));
  const older = more?.key === key ? more : null;
  const next = older === null ? value?.next : older.next;
  const known = new Set(value?.runs.map((run) => run.id));
  const load = async () => {
    try {
      const page = await admin.runs({ ...query, before: next ?? "" });
      setMore({ key, runs: [...(older?.runs ?? []), ...page.runs], next: page.next });
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <>
      <div className="ops-head">
        <h1>Runs</h1>
        <select aria-label="State of the runs" value={state} onChange={(event) => setState(event.target.value)}>
          <option value="">All states</option>
          {states.map((one) => (
            <option key={one} value={one}>
              {one.toLowerCase().replaceAll("_", " ")}
            </option>
          ))}
          <option value="expired">nobody answered</option>
        </select>
        <input
          aria-label="Only this agent"
          placeholder="Agent"
          value={agent}
          onChange={(event) => setAgent(event.target.value)}
        />
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const id = new FormData(event.currentTarget).get("run");
            if (typeof id === "string" && id.trim() !== "") {
              go(to.run(id.trim()));
            }
          }}
        >
          <input id="search" name="run" aria-label="Open the run with this id" placeholder="Id of a run" />
        </form>
      </div>
      <Failed error={error} />
      {value !== null && value.runs.length === 0 && <Empty title="No such run" />}
      {value !== null && value.runs.length > 0 && (
        <RunTable runs={[...value.runs, ...(older?.runs ?? []).filter((run) => !known.has(run.id))]} />
      )}
      {problem !== "" && <Problem>{problem}</Problem>}
      {next !== undefined && (
        <button type="button" className="quiet more" onClick={() => void load()}>
          Show earlier runs
        </button>
      )}
    </>
  );
}

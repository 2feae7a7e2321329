// One run: its steps, calls, questions, model calls and record.
import { isActive, type State } from "@spool/client";
import { type ReactNode, useState } from "react";
import { to } from "../route.js";
import { count, duration, moment, money } from "../ui/format.js";
import { Value } from "../ui/json.js";
import { useNow } from "../ui/now.js";
import { Dialog, messageOf, Problem } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { markWords, speaker } from "../words/entry.js";
import { unanswered } from "../words/question.js";
import { admin, every } from "./admin.js";
import { type Fact, FactList } from "./facts.js";
import { Failed } from "./failed.js";
import { ListedMark, RunTable } from "./run-table.js";

type Detail = Awaited<ReturnType<typeof admin.run>>;

export function RunPage({ runId }: { runId: string }): ReactNode {
  const { value, error, refresh } = usePoll(`run ${runId}`, every, (signal) => admin.run(runId, { signal }));
  if (value === null) {
    return (
      <>
        <h1>Run</h1>
        <Failed error={error} />
      </>
    );
  }
  const { run } = value;
  return (
    <>
      <div className="ops-head">
        <h1 className="clip mono">{run.id}</h1>
        <ListedMark run={run} />
        <a href={to.thread(run.threadId)}>Its thread</a>
        {isActive(run.state as State) && <Stop detail={value} onStopped={refresh} />}
      </div>
      <Failed error={error} />
      {run.error !== undefined && <Problem>{run.error}</Problem>}
      <Facts detail={value} />
      <Steps detail={value} />
      {value.parks.length > 0 && <Parks detail={value} />}
      {value.children.length > 0 && (
        <section>
          <h2>Nested runs</h2>
          <RunTable runs={value.children} />
        </section>
      )}
      <Record detail={value} />
      <ModelCalls detail={value} />
    </>
  );
}

function Stop({ detail, onStopped }: { detail: Detail; onStopped: () => void }): ReactNode {
  const [asked, setAsked] = useState(false);
  const [problem, setProblem] = useState("");
  const stop = async () => {
    try {
      await admin.stop({ runId: detail.run.id });
      setAsked(false);
      onStopped();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <>
      <button type="button" className="danger" onClick={() => setAsked(true)}>
        Stop
      </button>
      {asked && (
        <Dialog title="Stop this run?" onClose={() => setAsked(false)}>
          <p>It ends after what it does at this moment. Its finished steps are kept.</p>
          {problem !== "" && <Problem>{problem}</Problem>}
          <div className="actions">
            <button type="button" className="danger" onClick={() => void stop()}>
              Stop it
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function Facts({ detail }: { detail: Detail }): ReactNode {
  const { run } = detail;
  const now = useNow();
  const rows: Fact[] = [
    ["agent", run.agent],
    ["model", run.model],
    ["accepted", moment(run.enqueuedAt ?? run.startedAt, now)],
    ["time", duration(run.durationMs ?? now - new Date(run.startedAt).getTime())],
    ["tokens", `${count(run.totalTokens)}${run.tokenBudget ? ` of ${count(run.tokenBudget)}` : ""}`],
  ];
  if (run.queuedMs) {
    rows.push(["queued for", duration(run.queuedMs)]);
  }
  if (run.costMicros) {
    rows.push([
      "cost",
      `${money(run.costMicros, run.currency)}${run.costBudgetMicros ? ` of ${money(run.costBudgetMicros, run.currency)}` : ""}`,
    ]);
  }
  if (run.startedBy !== undefined) {
    rows.push(["for", run.startedBy]);
  }
  if (run.attempts > 0) {
    rows.push(["failed attempts", run.attempts]);
  }
  if (run.stopReason !== undefined) {
    rows.push(["ended", run.stopReason.replaceAll("_", " ")]);
  }
  if (run.expired !== undefined) {
    rows.push(["expired", unanswered(run.expired, Date.now())]);
  }
  if (detail.waitsFor !== undefined) {
    rows.push(["waits for", `a limit of the provider: ${detail.waitsFor}`]);
  }
  if (detail.revision !== undefined) {
    rows.push([
      "revision",
      <span key="r" className="mono">
        {detail.revision}
      </span>,
    ]);
  }
  return <FactList facts={rows} />;
}

function Steps({ detail }: { detail: Detail }): ReactNode {
  const longest = Math.max(1, ...detail.steps.map((step) => step.durationMs));
  return (
    <section>
      <h2>Steps</h2>
      {detail.steps.length === 0 && <p className="faint">No step has finished.</p>}
      {detail.steps.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
        <section className="wide" aria-label="table of steps" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th className="num">step</th>
                <th>outcome</th>
                <th className="num">time</th>
                <th>
                  <span className="sr">share of the longest</span>
                </th>
                <th className="num">tokens in</th>
                <th className="num">cached</th>
                <th className="num">out</th>
                <th>calls</th>
              </tr>
            </thead>
            <tbody>
              {detail.steps.map((step) => (
                <tr key={`${step.runId} ${step.index}`}>
                  <td className="num">{step.index}</td>
                  <td>
                    {step.outcome}
                    {step.attempts > 1 && <span className="tag warn">attempt {step.attempts}</span>}
                  </td>
                  <td className="num">{duration(step.durationMs)}</td>
                  <td className="bar-cell">
                    <progress value={step.durationMs} max={longest} aria-label="share of the longest step" />
                  </td>
                  <td className="num">{count(step.inputTokens)}</td>
                  <td className="num">{count(step.cachedInputTokens)}</td>
                  <td className="num">{count(step.outputTokens)}</td>
                  <td>
                    {step.calls.map((call) => (
                      <span key={call.toolCallId} className={call.failed ? "tag bad" : "tag"} title={call.toolCallId}>
                        {call.toolName} {call.failed ? "failed" : (call.effect ?? call.park)}
                      </span>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Parks({ detail }: { detail: Detail }): ReactNode {
  const now = useNow();
  return (
    <section>
      <h2>Questions</h2>
      {detail.parks.map((park) => (
        <details key={`${park.toolCallId} ${park.digest}`} className="record-line">
          <summary>
            <span className="call-name">{park.toolName}</span> {park.reason.replaceAll("_", " ")}, {park.state}
            {park.answer && (
              <span className="faint">
                {" "}
                {park.answer.approved ? "approved" : "denied"} {park.answer.by ? `by ${park.answer.by}` : ""}
              </span>
            )}
            {park.state === "open" && park.expiresAt && (
              <span className="faint"> until {moment(park.expiresAt, now)}</span>
            )}
          </summary>
          <Value value={park.asked} label="what was asked" />
          {park.answer && <Value value={park.answer} label="the answer" />}
        </details>
      ))}
    </section>
  );
}

function Record({ detail }: { detail: Detail }): ReactNode {
  const now = useNow(30);
  const say = speaker();
  return (
    <section>
      <h2>Record</h2>
      {detail.entries.map((entry) => {
        const { text, marks } = say(entry);
        const mark = marks.find((one) => one !== "start" && one !== "end"); // the text says these alone
        return (
          <details key={entry.seq} className="record-line" data-mark={mark}>
            <summary>
              <span className="num seq">{entry.seq}</span>
              <time className="num faint" dateTime={entry.createdAt}>
                {moment(entry.createdAt, now)}
              </time>{" "}
              {mark && <span className="tag">{markWords[mark]}</span>} {text}
            </summary>
            <Value value={entry.payload} label={`entry ${entry.seq}`} />
          </details>
        );
      })}
    </section>
  );
}

function ModelCalls({ detail }: { detail: Detail }): ReactNode {
  if (detail.usage.length === 0) {
    return null;
  }
  return (
    <section>
      <h2>Calls of models</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className="wide" aria-label="table of calls" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>agent</th>
              <th className="num">step</th>
              <th>model</th>
              <th>outcome</th>
              <th className="num">in</th>
              <th className="num">from cache</th>
              <th className="num">out</th>
              <th className="num">cost</th>
            </tr>
          </thead>
          <tbody>
            {detail.usage.map((row) => (
              <tr key={`${row.runId} ${row.kind} ${row.step} ${row.createdAt}`}>
                <td>{row.agentName}</td>
                <td className="num">{row.kind === "step" ? row.step : row.kind}</td>
                <td>{row.modelId}</td>
                <td>{row.outcome}</td>
                <td className="num">{count(row.usage.inputTokens ?? row.guess?.inputTokens ?? 0)}</td>
                <td className="num">{count(row.usage.cacheReadInputTokens ?? 0)}</td>
                <td className="num">{count(row.usage.outputTokens ?? row.guess?.outputTokens ?? 0)}</td>
                <td className="num">{row.cost ? money(row.cost.micros, row.cost.currency) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

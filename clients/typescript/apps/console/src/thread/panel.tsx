// What is known of a thread beside its messages: why it waits, what it costs, its runs, branches and names.
import { type RunNode, useRun, useRuns, useThread, useThreadState, useUsage } from "@spool/react";
import { type ReactNode, useEffect, useState } from "react";
import { go, to } from "../route.js";
import { client } from "../session.js";
import { attemptOf, count, duration, money, short, since } from "../ui/format.js";
import { Copy } from "../ui/json.js";
import { useNow } from "../ui/now.js";
import { Dialog, Meter, messageOf, Problem } from "../ui/parts.js";
import { RunMark } from "./marks.js";
import { useReadOnly } from "./read-only.js";
import { Timeline } from "./timeline.js";

export function Panel(): ReactNode {
  const readOnly = useReadOnly();
  return (
    <div className="panel">
      <Budget />
      <RunTree />
      {!readOnly && <Branches />}
      {!readOnly && <Ledger />}
      <ThreadFacts />
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** What the newest run has used, of what it may. */
function Budget(): ReactNode {
  const run = useRun();
  const usage = useThreadState((state) => state.usage);
  const now = useNow();
  if (run === null) {
    return null;
  }
  const cost = run.costMicros ?? 0;
  const time = run.wallTimeMs;
  const elapsed = run.durationMs ?? (run.startedAt === undefined ? 0 : now - new Date(run.startedAt).getTime());
  const context = usage?.context;
  return (
    <Section title="This run">
      {run.tokenBudget === undefined ? (
        <Line name="Tokens" value={count(run.totalTokens ?? 0)} />
      ) : (
        <Meter
          label="Tokens"
          used={run.totalTokens ?? 0}
          total={run.tokenBudget}
          text={`${short(run.totalTokens ?? 0)} of ${short(run.tokenBudget)}`}
        />
      )}
      {run.costBudgetMicros !== undefined ? (
        <Meter
          label="Cost"
          used={cost}
          total={run.costBudgetMicros}
          text={`${money(cost, run.currency)} of ${money(run.costBudgetMicros, run.currency)}`}
        />
      ) : (
        cost > 0 && <Line name="Cost" value={money(cost, run.currency)} />
      )}
      {run.toolCallBudget !== undefined && <Line name="Tool calls, at most" value={count(run.toolCallBudget)} />}
      {time !== undefined && (
        <Meter label="Time" used={elapsed} total={time} text={`${duration(elapsed)} of ${duration(time)}`} />
      )}
      {(run.cachedInputTokens ?? 0) > 0 && <Line name="From the cache" value={count(run.cachedInputTokens)} />}
      {run.steps > 0 && (
        <Line name="Steps" value={run.maxSteps === undefined ? count(run.steps) : `${run.steps} of ${run.maxSteps}`} />
      )}
      {context !== undefined && context.budgetTokens > 0 && (
        <Meter
          label="Context of the model"
          used={context.usedTokens}
          total={context.budgetTokens}
          text={`${short(context.usedTokens)} of ${short(context.budgetTokens)}`}
        />
      )}
    </Section>
  );
}

function Line({ name, value }: { name: string; value: ReactNode }): ReactNode {
  return (
    <div className="line">
      <span>{name}</span>
      <span className="num">{value}</span>
    </div>
  );
}

function RunTree(): ReactNode {
  const { tree } = useRuns();
  const now = useNow(5);
  const [all, setAll] = useState(false);
  const shown = all ? tree : tree.slice(0, 3);
  if (tree.length === 0) {
    return null;
  }
  return (
    <Section title="Runs">
      {shown.map((node) => (
        <div key={node.run.id} className="run-tree">
          <ul>
            <RunLine node={node} depth={0} now={now} />
          </ul>
          {node.children.length > 0 && <Timeline root={node} now={now} />}
        </div>
      ))}
      {tree.length > shown.length && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          {tree.length - shown.length} earlier runs
        </button>
      )}
    </Section>
  );
}

function RunLine({ node, depth, now }: { node: RunNode; depth: number; now: number }): ReactNode {
  const { run, children } = node;
  const readOnly = useReadOnly();
  const long =
    run.durationMs ??
    (run.startedAt !== undefined && run.endedAt === undefined ? now - new Date(run.startedAt).getTime() : 0);
  const show = () => document.getElementById(`nested-${run.id}`)?.scrollIntoView({ block: "center" });
  return (
    <li>
      <div className="run-line" data-depth={Math.min(depth, 6)}>
        <RunMark run={run} quiet />
        {readOnly ? (
          <span>{run.agent}</span>
        ) : depth === 0 ? (
          // The agent of a run that began while the page was open comes with the next snapshot.
          <a className="clip" href={to.run(run.id)} title={run.id}>
            {run.agent || run.id}
          </a>
        ) : (
          <button type="button" className="link" onClick={show} title={run.prompt}>
            {run.agent}
          </button>
        )}
        <span className="faint">{run.model}</span>
        {run.attempts > 0 && <span className="tag">{attemptOf(run)}</span>}
        <span className="num">
          {short(run.totalTokens ?? 0)} tok{long > 0 ? `, ${duration(long)}` : ""}
        </span>
      </div>
      {depth > 0 && run.error !== undefined && <p className="bad small">{run.error}</p>}
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <RunLine key={child.run.id} node={child} depth={depth + 1} now={now} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Branches(): ReactNode {
  const { loadBranches, restoreBranch, threadId, loading, active } = useThread();
  const branches = useThreadState((state) => state.branches);
  const now = useNow(10);
  useEffect(() => {
    if (threadId !== null && !loading) {
      void loadBranches();
    }
  }, [threadId, loading, loadBranches]);
  if (branches === null || branches.length === 0) {
    return null;
  }
  return (
    <Section title="Branches">
      <ul className="branches">
        {branches.map((branch) => (
          <li key={branch.id}>
            <span className="clip">{branch.preview}</span>
            <span className="faint">
              {branch.messageCount} messages, {since(branch.createdAt, now)}
            </span>
            <button
              type="button"
              className="quiet"
              disabled={active || branch.baseBranchId !== undefined}
              title={branch.baseBranchId === undefined ? undefined : "Restore the branch that it begins in first"}
              onClick={() => void restoreBranch(branch.id)}
            >
              Restore
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What the thread has used, by agent and model. */
function Ledger(): ReactNode {
  const usage = useUsage();
  if (usage === null || usage.tokens.lines.length === 0) {
    return null;
  }
  return (
    <Section title="The thread has used">
      <table className="ledger">
        <thead>
          <tr>
            <th>agent</th>
            <th className="num">in</th>
            <th className="num">cached</th>
            <th className="num">out</th>
            <th className="num">cost</th>
          </tr>
        </thead>
        <tbody>
          {usage.tokens.lines.map((line) => (
            <tr key={`${line.agentId} ${line.model} ${line.modelId}`} title={`${line.model}, ${line.calls} calls`}>
              <td className="clip">{line.agentName}</td>
              <td className="num">{short(line.inputTokens)}</td>
              <td className="num">{short(line.cacheReadInputTokens)}</td>
              <td className="num">{short(line.outputTokens)}</td>
              <td className="num">{line.currency === undefined ? "–" : money(line.costMicros, line.currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {usage.tokens.unpriced > 0 && (
        <p className="faint small">
          {usage.tokens.unpriced === 1 ? "1 call has" : `${count(usage.tokens.unpriced)} calls have`} no known price.
        </p>
      )}
    </Section>
  );
}

async function save(threadId: string): Promise<void> {
  const { saveRecord } = await import("../file/save.js");
  await saveRecord(threadId);
}

function ThreadFacts(): ReactNode {
  const readOnly = useReadOnly();
  const { threadId, delete: remove, refresh } = useThread();
  const thread = useThreadState((state) => state.view.thread);
  const [asked, setAsked] = useState<"" | "delete" | "rename">("");
  const [problem, setProblem] = useState("");
  if (threadId === null) {
    return null;
  }
  const labels = Object.entries(thread.labels ?? {});
  return (
    <Section title="Thread">
      <div className="line">
        <span className="clip mono" title={threadId}>
          {threadId}
        </span>
        <Copy text={threadId}>Copy id</Copy>
      </div>
      {thread.owner !== undefined && <Line name="Owner" value={thread.owner} />}
      {labels.map(([name, value]) => (
        <Line key={name} name={name} value={value} />
      ))}
      {!readOnly && (
        <div className="actions">
          <button type="button" className="quiet" onClick={() => setAsked("rename")}>
            Rename
          </button>
          <button
            type="button"
            className="quiet"
            onClick={() => save(threadId).catch((error) => setProblem(messageOf(error)))}
          >
            Save as a file
          </button>
          <button type="button" className="quiet bad" onClick={() => setAsked("delete")}>
            Delete
          </button>
        </div>
      )}
      {problem !== "" && <Problem>{problem}</Problem>}
      {asked === "rename" && (
        <Rename
          title={thread.title ?? ""}
          onClose={() => setAsked("")}
          onSave={async (title) => {
            await client.updateThread(threadId, { title });
            refresh();
          }}
        />
      )}
      {asked === "delete" && (
        <Dialog title="Delete this thread?" onClose={() => setAsked("")}>
          <p>Its messages, runs, record and files are deleted. Nobody can bring them back.</p>
          <div className="actions">
            <button
              type="button"
              className="danger"
              onClick={async () => {
                const result = await remove();
                setAsked("");
                if (result.ok) {
                  go(to.threads);
                } else {
                  setProblem(messageOf(result.error));
                }
              }}
            >
              Delete it
            </button>
            <button type="button" onClick={() => setAsked("")}>
              Keep it
            </button>
          </div>
        </Dialog>
      )}
    </Section>
  );
}

function Rename({
  title,
  onClose,
  onSave,
}: {
  title: string;
  onClose: () => void;
  onSave: (title: string) => Promise<void>;
}): ReactNode {
  const [text, setText] = useState(title);
  const [problem, setProblem] = useState("");
  const save = async () => {
    try {
      await onSave(text);
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <Dialog title="Rename the thread" onClose={onClose}>
      <input
        aria-label="Title"
        value={text}
        onChange={(e) => setText(e.target.value)}
        onKeyDown={(e) => e.key === "Enter" && void save()}
      />
      {problem !== "" && <Problem>{problem}</Problem>}
      <div className="actions">
        <button type="button" className="primary" disabled={text.trim() === ""} onClick={() => void save()}>
          Save
        </button>
      </div>
    </Dialog>
  );
}

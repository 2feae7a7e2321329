// A call of a tool: one line, and on request its arguments, its result and the run that it has started.
import type { ShownToolCall } from "@spool/react";
import { useMessages, useRun, useThread } from "@spool/react";
import { type ComponentType, type ReactNode, useState } from "react";
import { Sources } from "../markdown/sources.js";
import { duration, glance, visible } from "../ui/format.js";
import { Value } from "../ui/json.js";
import { unanswered } from "../words/question.js";
import { type ArtifactInfo, ArtifactView, artifactsOf } from "./artifact.js";
import { failureOf } from "./failure.js";
import { RunMark } from "./marks.js";
import { isObject } from "./schema.js";
import { Follow, Took } from "./took.js";

const words: Record<ShownToolCall["state"], string> = {
  streaming: "being written",
  waiting: "needs you",
  running: "running",
  done: "done",
  error: "failed",
  denied: "denied",
  cancelled: "cancelled",
};

export interface ToolCardProps {
  call: ShownToolCall;
  runId?: string | undefined;
  /** Shows a message of the run that the call has started. */
  Message: ComponentType<{ id: string }>;
}

export function ToolCard({ call, runId, Message }: ToolCardProps): ReactNode {
  const { threadId } = useThread();
  const [open, setOpen] = useState(false);
  const [nestedOpen, setNestedOpen] = useState(call.state === "running" || call.state === "waiting");
  const artifacts = call.result === undefined ? [] : artifactsOf(call.result);
  return (
    <div className="call" data-state={call.state}>
      <button type="button" className="call-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="chevron" aria-hidden="true" />
        <span className="call-name">{call.toolName}</span>
        <span className="call-args">
          {typeof call.args === "string" ? visible(call.args.slice(0, 120)) : glance(call.args)}
        </span>
        {call.agentId === undefined && (
          <Took
            of={`${threadId} ${call.toolCallId}`}
            running={call.state === "running"}
            over={call.result !== undefined}
          />
        )}
        <span className="call-state">{call.pending === undefined ? words[call.state] : "works elsewhere"}</span>
      </button>
      {open && (
        <div className="call-body">
          <h4>Arguments</h4>
          <Value value={call.args} label={`arguments of ${call.toolName}`} />
          {call.result !== undefined && <Result call={call} artifacts={artifacts} />}
          {call.pending && (
            <p className="faint">
              The work goes on elsewhere{call.pending.note ? `: ${call.pending.note}` : ""}, until{" "}
              {new Date(call.pending.until).toLocaleString()} at most.
            </p>
          )}
        </div>
      )}
      {!open && call.state === "done" && call.agentId === undefined && (
        <div className="call-glance">
          <span className="faint">→ </span>
          {glance(call.result, 160)}
        </div>
      )}
      {isTimeout(call.result) && <Unanswered runId={runId} />}
      {!open && call.state === "error" && <div className="call-glance bad">{failureOf(call.result)}</div>}
      {!open && artifacts.map((artifact) => <ArtifactView key={artifact.id} artifact={artifact} />)}
      <Sources sources={call.sources ?? []} label={`Sources of ${call.toolName}`} />
      {call.agentId !== undefined && (
        <Nested agentId={call.agentId} open={nestedOpen} onToggle={() => setNestedOpen(!nestedOpen)}>
          <NestedMessages agentId={call.agentId} Message={Message} />
        </Nested>
      )}
    </div>
  );
}

function isTimeout(result: unknown): boolean {
  return isObject(result) && result.responded === false && result.reason === "timeout";
}

/** The run knows until when somebody could answer, if this is its only such question. */
function Unanswered({ runId }: { runId: string | undefined }): ReactNode {
  const expired = useRun(runId ?? "")?.expired;
  const known = expired?.questions === 1 ? unanswered(expired, Date.now()) : "Nobody answered in time";
  return <div className="call-glance faint">{known}</div>;
}

function Result({ call, artifacts }: { call: ShownToolCall; artifacts: readonly ArtifactInfo[] }): ReactNode {
  // A result that was too large for a message is an artifact with its beginning.
  const { result } = call;
  const large =
    isObject(result) && isObject(result.artifact) && typeof result.preview === "string" ? result.preview : null;
  return (
    <>
      <h4>{large === null ? "Result" : "The beginning of the result"}</h4>
      <Value value={large ?? result} label={`result of ${call.toolName}`} />
      {artifacts.map((artifact) => (
        <ArtifactView key={artifact.id} artifact={artifact} />
      ))}
    </>
  );
}

interface NestedProps {
  agentId: string;
  open: boolean;
  onToggle: () => void;
  children: ReactNode;
}

function Nested({ agentId, open, onToggle, children }: NestedProps): ReactNode {
  const run = useRun(agentId);
  return (
    <div className="nested">
      <button type="button" className="call-line" aria-expanded={open} onClick={onToggle} id={`nested-${agentId}`}>
        <span className="chevron" aria-hidden="true" />
        <span className="call-name">{run?.agent ?? "nested run"}</span>
        <span className="call-args">{run?.prompt}</span>
        {run?.durationMs !== undefined && <span className="num">{duration(run.durationMs)}</span>}
        {run !== null && <RunMark run={run} />}
      </button>
      {open && <Follow>{children}</Follow>}
    </div>
  );
}

function NestedMessages({ agentId, Message }: { agentId: string } & Pick<ToolCardProps, "Message">): ReactNode {
  const ids = useMessages({ agentId });
  return (
    <div className="nested-body">
      {ids.length === 0 && <p className="faint">It has not said anything yet.</p>}
      {ids.map((id) => (
        <Message key={id} id={id} />
      ))}
    </div>
  );
}

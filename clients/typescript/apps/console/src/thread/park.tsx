// A question that waits for a person, with everything that the answer depends on.
import type { ActionResult, Answer, Park } from "@spool/client";
import { type ReactNode, useId, useState } from "react";
import { Link } from "../markdown/markdown.js";
import { duration, glance, money, pretty } from "../ui/format.js";
import { Value } from "../ui/json.js";
import { useNow } from "../ui/now.js";
import { messageOf, Problem } from "../ui/parts.js";
import { DiffView } from "./diff-view.js";
import { JSONInput, ValueForm } from "./form.js";
import { isObject, sameJSON, shapeOf } from "./schema.js";
import { askOf, budgetOf } from "./why.js";

/** Sends an answer. */
export type Respond = (answer: Answer) => Promise<ActionResult>;

export interface ParkProps {
  park: Pick<
    Park,
    | "toolCallId"
    | "toolName"
    | "arguments"
    | "inputSchema"
    | "reason"
    | "expiresAt"
    | "onExpiry"
    | "distinctApprover"
    | "nested"
  >;
  answering: boolean;
  respond: Respond;
  /** Stands above the question, such as a link to its thread. */
  children?: ReactNode;
}

/** Asks a person. */
export function ParkPanel({ park, answering, respond, children }: ParkProps): ReactNode {
  const title = useId();
  const [problem, setProblem] = useState("");
  const answer = async (what: Answer) => {
    setProblem("");
    const result = await respond(what);
    if (!result.ok) {
      setProblem(messageOf(result.error));
    }
  };
  const shared = { park, answering, answer };
  return (
    <section className="park" aria-labelledby={title} data-call={park.toolCallId}>
      <header>
        <h3 id={title}>{titleOf(park)}</h3>
        {park.expiresAt !== undefined && <Countdown at={park.expiresAt} onExpiry={park.onExpiry} />}
      </header>
      {children}
      {park.nested && <p className="faint">Asked by the nested run of {park.nested.name}.</p>}
      {park.distinctApprover === true && <p className="faint">The person who started the run may not answer.</p>}
      <Body {...shared} />
      {problem !== "" && <Problem>{problem}</Problem>}
    </section>
  );
}

function titleOf(park: ParkProps["park"]): string {
  switch (park.reason) {
    case "approval":
      return `Allow ${park.toolName}?`;
    case "outcome_unknown":
      return `What did ${park.toolName} do?`;
    case "budget_reached":
      return `The budget of ${budgetOf(park.arguments)} is used up`;
    case "client_tool":
      return `${park.toolName} runs at the client`;
    case "elicitation":
      return `${park.toolName} asks`;
    default: {
      const what = askOf(park);
      return what.charAt(0).toUpperCase() + what.slice(1);
    }
  }
}

/** The time that is left to answer. */
export function Countdown({ at, onExpiry }: { at: string; onExpiry?: string | undefined }): ReactNode {
  const left = new Date(at).getTime() - useNow();
  const then =
    onExpiry === "fail"
      ? "then the run fails"
      : onExpiry === "extend"
        ? "then there is more time"
        : "then it goes on without";
  return (
    <span
      className="countdown num"
      data-near={left < 120_000}
      title={`Until ${new Date(at).toLocaleString()}, ${then}`}
    >
      {left > 0 ? `${duration(left)} left` : "expired"}
    </span>
  );
}

interface BodyProps {
  park: ParkProps["park"];
  answering: boolean;
  answer: (what: Answer) => void;
}

function Body(props: BodyProps): ReactNode {
  switch (props.park.reason) {
    case "approval":
      return <Approval {...props} />;
    case "outcome_unknown":
      return <Outcome {...props} />;
    case "budget_reached":
      return <Budget {...props} />;
    case "client_tool":
      return <ClientTool {...props} />;
    default:
      return <Question {...props} />;
  }
}

/** The reason of an answer, for the model and for the record. */
function Reason({
  value,
  onChange,
  label,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} <span className="faint">optional; the model and the record get it</span>
      </label>
      <input id={id} data-role="reason" value={value} onChange={(event) => onChange(event.target.value)} />
    </div>
  );
}

const because = (reason: string) => (reason.trim() === "" ? {} : { reason: reason.trim() });

function Approval({ park, answering, answer }: BodyProps): ReactNode {
  const [edited, setEdited] = useState<unknown>(park.arguments);
  const [mode, setMode] = useState<"read" | "form" | "json">("read");
  const [valid, setValid] = useState(true);
  const [reason, setReason] = useState("");
  const shape = shapeOf(park.inputSchema, park.arguments);
  const changed = !sameJSON(edited, park.arguments);
  const edit = () => setMode(shape.kind === "json" ? "json" : "form");
  return (
    <>
      {mode === "read" && !changed && <Value value={park.arguments} label={`arguments of ${park.toolName}`} />}
      {mode !== "read" && (
        <div className="edit">
          {shape.kind !== "json" && (
            <div className="tabs" role="tablist" aria-label="How to edit the arguments">
              {(["form", "json"] as const).map((one) => (
                <button
                  key={one}
                  type="button"
                  role="tab"
                  aria-selected={mode === one}
                  disabled={!valid && mode !== one}
                  onClick={() => setMode(one)}
                >
                  {one === "form" ? "Form" : "JSON"}
                </button>
              ))}
            </div>
          )}
          {mode === "form" ? (
            <ValueForm shape={shape} value={edited} onChange={setEdited} onValid={setValid} disabled={answering} />
          ) : (
            <JSONInput
              value={edited}
              onChange={setEdited}
              onValid={setValid}
              disabled={answering}
              label="arguments as JSON"
            />
          )}
        </div>
      )}
      {changed && <DiffView before={pretty(park.arguments)} after={pretty(edited)} />}
      <Reason value={reason} onChange={setReason} label="Reason" />
      <div className="actions">
        <button
          type="button"
          className="primary"
          data-role="approve"
          disabled={answering || !valid}
          onClick={() => answer({ approved: true, ...(changed && { arguments: edited }), ...because(reason) })}
        >
          {changed ? "Approve the edited call" : "Approve"}
        </button>
        <button
          type="button"
          className="danger"
          data-role="deny"
          disabled={answering}
          onClick={() => answer({ approved: false, ...because(reason) })}
        >
          Deny
        </button>
        {mode === "read" ? (
          <button type="button" data-role="edit" disabled={answering} onClick={edit}>
            Edit the arguments
          </button>
        ) : (
          <button
            type="button"
            disabled={answering}
            onClick={() => {
              setEdited(park.arguments);
              setValid(true);
              setMode("read");
            }}
          >
            Undo the edit
          </button>
        )}
      </div>
    </>
  );
}

function Outcome({ park, answering, answer }: BodyProps): ReactNode {
  const [result, setResult] = useState<unknown>(undefined);
  const [valid, setValid] = useState(true);
  const [reason, setReason] = useState("");
  const id = useId();
  return (
    <>
      <p>
        The worker died while this call ran, so nobody knows whether it had its effect. Find out, and say which. It ran
        with:
      </p>
      <Value value={park.arguments} label={`arguments of ${park.toolName}`} />
      <div className="field">
        <label htmlFor={id}>
          Its result, if it happened <span className="faint">JSON</span>
        </label>
        <JSONInput id={id} value={result} onChange={setResult} onValid={setValid} disabled={answering} optional />
      </div>
      <Reason value={reason} onChange={setReason} label="Reason" />
      <div className="actions">
        <button
          type="button"
          className="primary"
          disabled={answering || !valid || result === undefined}
          onClick={() => answer({ approved: false, payload: result, ...because(reason) })}
        >
          It happened, with this result
        </button>
        <button
          type="button"
          data-role="approve"
          disabled={answering}
          onClick={() => answer({ approved: true, ...because(reason) })}
        >
          Run it again
        </button>
        <button
          type="button"
          data-role="deny"
          disabled={answering}
          onClick={() => answer({ approved: false, ...because(reason) })}
        >
          Leave it
        </button>
      </div>
    </>
  );
}

const budgets = [
  { name: "tokenBudget", end: "token_budget", label: "Tokens", unit: 1, text: (n: number) => String(n) },
  { name: "costBudgetMicros", end: "cost_budget", label: "Money", unit: 1e6, text: (n: number) => money(n) },
  { name: "toolCallBudget", end: "tool_call_budget", label: "Tool calls", unit: 1, text: (n: number) => String(n) },
  { name: "wallTimeMs", end: "time_budget", label: "Seconds", unit: 1000, text: (n: number) => duration(n) },
] as const;

function Budget({ park, answering, answer }: BodyProps): ReactNode {
  const args = isObject(park.arguments) ? park.arguments : {};
  const budget = isObject(args.budget) ? args.budget : {};
  const spent = isObject(args.spent) ? args.spent : {};
  const bounded = budgets.filter((one) => typeof budget[one.name] === "number");
  const [totals, setTotals] = useState<Record<string, number>>(() =>
    Object.fromEntries(
      bounded.map((one) => [one.name, proposal(Number(budget[one.name]), args.exhausted === one.end, one.unit)]),
    ),
  );
  const id = useId();
  const raised = bounded.filter((one) => totals[one.name] !== Number(budget[one.name]) / one.unit);
  const payload = Object.fromEntries(raised.map((one) => [one.name, Math.round((totals[one.name] ?? 0) * one.unit)]));
  return (
    <>
      <p>The run waits. Set a new total to let it go on, or end it here.</p>
      <div className="form grid">
        {bounded.map((one) => (
          <div className="field" key={one.name}>
            <label htmlFor={`${id}-${one.name}`}>{one.label}, in all</label>
            <input
              id={`${id}-${one.name}`}
              type="number"
              min={0}
              step={one.unit === 1 ? 1 : "any"}
              value={totals[one.name] ?? 0}
              disabled={answering}
              onChange={(event) => setTotals({ ...totals, [one.name]: event.target.valueAsNumber || 0 })}
            />
            <p className="hint">
              used {one.text(Number(spent[one.name] ?? 0))} of {one.text(Number(budget[one.name]))}
            </p>
          </div>
        ))}
      </div>
      <div className="actions">
        <button
          type="button"
          className="primary"
          data-role="approve"
          disabled={answering || raised.length === 0}
          onClick={() => answer({ approved: true, payload })}
        >
          Raise the budget
        </button>
        <button
          type="button"
          className="danger"
          data-role="deny"
          disabled={answering}
          onClick={() => answer({ approved: false })}
        >
          End the run
        </button>
      </div>
    </>
  );
}

/** A total that lets the run go on: twice as much of what is used up. The others stay. */
function proposal(total: number, used: boolean, unit: number): number {
  return (used ? total * 2 : total) / unit;
}

function ClientTool({ park, answering, answer }: BodyProps): ReactNode {
  const [result, setResult] = useState<unknown>(undefined);
  const [valid, setValid] = useState(true);
  const [reason, setReason] = useState("");
  const id = useId();
  return (
    <>
      <p>The client that started the run is expected to run this call. If it is gone, give its result here.</p>
      <Value value={park.arguments} label={`arguments of ${park.toolName}`} />
      <div className="field">
        <label htmlFor={id}>
          Result <span className="faint">JSON</span>
        </label>
        <JSONInput id={id} value={result} onChange={setResult} onValid={setValid} disabled={answering} optional />
      </div>
      <Reason value={reason} onChange={setReason} label="Reason" />
      <div className="actions">
        <button
          type="button"
          className="primary"
          data-role="approve"
          disabled={answering || !valid || result === undefined}
          onClick={() => answer({ approved: true, payload: result, ...because(reason) })}
        >
          Send the result
        </button>
        <button
          type="button"
          className="danger"
          data-role="deny"
          disabled={answering}
          onClick={() => answer({ approved: false, ...because(reason) })}
        >
          Refuse
        </button>
      </div>
    </>
  );
}

/** A question of a tool's own, such as that of an MCP server: the schema is that of the answer. */
function Question({ park, answering, answer }: BodyProps): ReactNode {
  const [payload, setPayload] = useState<unknown>(undefined);
  const [valid, setValid] = useState(true);
  const [reason, setReason] = useState("");
  const shape = shapeOf(park.inputSchema, undefined);
  const { message, url, ...rest } = isObject(park.arguments) ? park.arguments : ({} as Record<string, unknown>);
  const other = isObject(park.arguments) ? rest : park.arguments;
  return (
    <>
      {typeof message === "string" && <p className="asked">{message}</p>}
      {typeof url === "string" && (
        <p>
          First go to <Link href={url}>{url}</Link>
        </p>
      )}
      {glance(other) !== "{}" && other !== null && <Value value={other} label="what is asked" />}
      {shape.kind === "object" ? (
        <ValueForm shape={shape} value={payload ?? {}} onChange={setPayload} onValid={setValid} disabled={answering} />
      ) : (
        typeof url !== "string" && (
          <JSONInput
            value={payload}
            onChange={setPayload}
            onValid={setValid}
            disabled={answering}
            label="answer as JSON"
            optional
          />
        )
      )}
      <Reason value={reason} onChange={setReason} label="Reason" />
      <div className="actions">
        <button
          type="button"
          className="primary"
          data-role="approve"
          disabled={answering || !valid}
          onClick={() =>
            answer({
              approved: true,
              ...(shape.kind === "object" ? { payload: payload ?? {} } : payload !== undefined && { payload }),
              ...because(reason),
            })
          }
        >
          Answer
        </button>
        <button
          type="button"
          className="danger"
          data-role="deny"
          disabled={answering}
          onClick={() => answer({ approved: false, ...because(reason) })}
        >
          Decline
        </button>
      </div>
    </>
  );
}

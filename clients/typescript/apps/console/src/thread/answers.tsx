// What a person can answer to each kind of question.
import type { Answer, Park } from "@spool/client";
import { type ReactNode, useId, useState } from "react";
import { Link } from "../markdown/markdown.js";
import { duration, money, pretty, visible } from "../ui/format.js";
import { Value } from "../ui/json.js";
import { enough } from "./budget.js";
import { DiffView } from "./diff-view.js";
import { JSONInput, useValid, ValueForm } from "./form.js";
import { isComplete, isObject, sameJSON, shapeOf, startOf } from "./schema.js";

/** What a person sees of a question. */
export type ShownPark = Pick<
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

export interface BodyProps {
  park: ShownPark;
  answering: boolean;
  answer: (what: Answer) => void;
}

/** A button below a question. The keys of the inbox press it by its role. */
interface Choice {
  readonly text: string;
  readonly look?: "primary" | "danger";
  readonly role?: "approve" | "deny" | "edit";
  readonly off?: boolean;
  readonly act: () => void;
}

function Choices({ of, answering }: { of: readonly Choice[]; answering: boolean }): ReactNode {
  return (
    <div className="actions">
      {of.map(({ text, look, role, off = false, act }) => (
        <button key={text} type="button" className={look} data-role={role} disabled={answering || off} onClick={act}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** The reason of an answer, for the model and for the record. */
function Reason({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        Reason <span className="faint">optional; the model and the record get it</span>
      </label>
      <input id={id} data-role="reason" value={value} onChange={(event) => onChange(event.target.value)} />
    </div>
  );
}

const because = (reason: string) => (reason.trim() === "" ? {} : { reason: reason.trim() });

export function Approval({ park, answering, answer }: BodyProps): ReactNode {
  const [edited, setEdited] = useState<unknown>(park.arguments);
  const [mode, setMode] = useState<"read" | "form" | "json">("read");
  const [valid, onValid] = useValid();
  const [reason, setReason] = useState("");
  const shape = shapeOf(park.inputSchema, park.arguments);
  const changed = !sameJSON(edited, park.arguments);
  const undo = () => {
    setEdited(park.arguments);
    setMode("read");
  };
  return (
    <>
      {mode === "read" && <Value value={park.arguments} label={`arguments of ${park.toolName}`} />}
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
            <ValueForm shape={shape} value={edited} onChange={setEdited} onValid={onValid} disabled={answering} />
          ) : (
            <JSONInput
              value={edited}
              onChange={setEdited}
              onValid={onValid}
              disabled={answering}
              label="arguments as JSON"
            />
          )}
        </div>
      )}
      {changed && <DiffView before={visible(pretty(park.arguments))} after={visible(pretty(edited))} />}
      <Reason value={reason} onChange={setReason} />
      <Choices
        answering={answering}
        of={[
          {
            text: changed ? "Approve the edited call" : "Approve",
            look: "primary",
            role: "approve",
            off: !valid,
            act: () => answer({ approved: true, ...(changed && { arguments: edited }), ...because(reason) }),
          },
          { text: "Deny", look: "danger", role: "deny", act: () => answer({ approved: false, ...because(reason) }) },
          mode === "read"
            ? {
                text: "Edit the arguments",
                role: "edit",
                act: () => setMode(shape.kind === "json" ? "json" : "form"),
              }
            : { text: "Undo the edit", act: undo },
        ]}
      />
    </>
  );
}

/** Asks for the result of a call that the server does not run. */
function AskResult({
  park,
  answering,
  about,
  label,
  choices,
}: Omit<BodyProps, "answer"> & {
  about: string;
  label: string;
  choices: (given: { result: unknown; ready: boolean; why: { reason?: string } }) => readonly Choice[];
}): ReactNode {
  const [result, setResult] = useState<unknown>(undefined);
  const [valid, onValid] = useValid();
  const [reason, setReason] = useState("");
  const id = useId();
  return (
    <>
      <p>{about}</p>
      <Value value={park.arguments} label={`arguments of ${park.toolName}`} />
      <div className="field">
        <label htmlFor={id}>
          {label} <span className="faint">JSON</span>
        </label>
        <JSONInput id={id} value={result} onChange={setResult} onValid={onValid} disabled={answering} optional />
      </div>
      <Reason value={reason} onChange={setReason} />
      <Choices
        answering={answering}
        of={choices({ result, ready: valid && result !== undefined, why: because(reason) })}
      />
    </>
  );
}

export function Outcome({ park, answering, answer }: BodyProps): ReactNode {
  return (
    <AskResult
      park={park}
      answering={answering}
      about="The worker died while this call ran, so nobody knows whether it had its effect. Find out, and say which. It ran with:"
      label="Its result, if it happened"
      choices={({ result, ready, why }) => [
        {
          text: "It happened, with this result",
          look: "primary",
          off: !ready,
          act: () => answer({ approved: false, payload: result, ...why }),
        },
        { text: "Run it again", role: "approve", act: () => answer({ approved: true, ...why }) },
        { text: "Leave it", role: "deny", act: () => answer({ approved: false, ...why }) },
      ]}
    />
  );
}

export function ClientTool({ park, answering, answer }: BodyProps): ReactNode {
  return (
    <AskResult
      park={park}
      answering={answering}
      about="The client that started the run is expected to run this call. If it is gone, give its result here."
      label="Result"
      choices={({ result, ready, why }) => [
        {
          text: "Send the result",
          look: "primary",
          role: "approve",
          off: !ready,
          act: () => answer({ approved: true, payload: result, ...why }),
        },
        { text: "Refuse", look: "danger", role: "deny", act: () => answer({ approved: false, ...why }) },
      ]}
    />
  );
}

const budgets = [
  { name: "tokenBudget", end: "token_budget", label: "Tokens", unit: 1 },
  { name: "costBudgetMicros", end: "cost_budget", label: "Money", unit: 1e6 },
  { name: "toolCallBudget", end: "tool_call_budget", label: "Tool calls", unit: 1 },
  { name: "wallTimeMs", end: "time_budget", label: "Seconds", unit: 1000 },
] as const;

export function Budget({ park, answering, answer }: BodyProps): ReactNode {
  const args = isObject(park.arguments) ? park.arguments : {};
  const budget = isObject(args.budget) ? args.budget : {};
  const spent = isObject(args.spent) ? args.spent : {};
  const currency = typeof args.currency === "string" ? args.currency : undefined;
  const bounded = budgets.filter((one) => typeof budget[one.name] === "number");
  const text = (unit: number, n: number) =>
    unit === 1e6 ? money(n, currency) : unit === 1000 ? duration(n) : String(n);
  const [totals, setTotals] = useState<Record<string, number>>(() =>
    Object.fromEntries(
      bounded.map(({ name, end, unit }) => {
        const total = Number(budget[name]);
        return [name, (args.exhausted === end ? enough(name, total, Number(spent[name] ?? 0)) : total) / unit];
      }),
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
              used {text(one.unit, Number(spent[one.name] ?? 0))} of {text(one.unit, Number(budget[one.name]))}
            </p>
          </div>
        ))}
      </div>
      <Choices
        answering={answering}
        of={[
          {
            text: "Raise the budget",
            look: "primary",
            role: "approve",
            off: raised.length === 0,
            act: () => answer({ approved: true, payload }),
          },
          { text: "End the run", look: "danger", role: "deny", act: () => answer({ approved: false }) },
        ]}
      />
    </>
  );
}

/** A question of a tool's own, such as that of an MCP server: the schema is that of the answer. */
export function Question({ park, answering, answer }: BodyProps): ReactNode {
  const shape = shapeOf(park.inputSchema, undefined);
  const [payload, setPayload] = useState<unknown>(() => startOf(shape));
  const [valid, onValid] = useValid();
  const [reason, setReason] = useState("");
  const asked = isObject(park.arguments) ? park.arguments : {};
  const { message, url } = asked;
  const other = isObject(park.arguments) ? withoutNames(park, asked) : park.arguments;
  const form = shape.kind === "object";
  return (
    <>
      {typeof message === "string" && <p className="asked">{message}</p>}
      {typeof url === "string" && (
        <p>
          First go to <Link href={url}>{url.replace(/\?.*/, "?…")}</Link>
        </p>
      )}
      {other !== null && !sameJSON(other, {}) && <Value value={other} label="what is asked" />}
      {form && <ValueForm shape={shape} value={payload} onChange={setPayload} onValid={onValid} disabled={answering} />}
      {!form && typeof url !== "string" && (
        <JSONInput
          value={payload}
          onChange={setPayload}
          onValid={onValid}
          disabled={answering}
          label="answer as JSON"
          optional
        />
      )}
      <Reason value={reason} onChange={setReason} />
      <Choices
        answering={answering}
        of={[
          {
            text: form || typeof url !== "string" ? "Answer" : "Go on",
            look: "primary",
            role: "approve",
            off: !valid || !isComplete(shape, payload),
            act: () => answer({ approved: true, ...(payload !== undefined && { payload }), ...because(reason) }),
          },
          { text: "Decline", look: "danger", role: "deny", act: () => answer({ approved: false, ...because(reason) }) },
        ]}
      />
    </>
  );
}

/** What is asked besides the text and the address. Of an MCP server, the title has the names already. */
function withoutNames(park: BodyProps["park"], asked: Record<string, unknown>): Record<string, unknown> {
  const { message: _, url: _url, ...rest } = asked;
  if (park.reason !== "elicitation") {
    return rest;
  }
  const { server: _server, tool: _tool, mode: _mode, ...others } = rest;
  return others;
}

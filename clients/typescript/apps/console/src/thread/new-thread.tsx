import { type ReactNode, useEffect, useState } from "react";
import { type About, readAbout } from "../session.js";
import { namesOf } from "../ui/format.js";
import { Field } from "../ui/parts.js";
import type { NewThreadOptions } from "./composer.js";

const examples = [
  [
    "Two subagents at once, and one of them asks you",
    'ask researcher to use clock and ask mailer to use send_email with {"to": "ann@example.com"}',
  ],
  ["A call that waits for you", 'use send_email with {"to": "ann@example.com", "text": "The report is ready."}'],
  ["A long answer, to stop, to steer, or to reload the page in", "slow 40"],
  ["A tool", "use clock"],
] as const;

/** What a new thread begins with, and for the demo model what it can do. */
export function NewThread({
  options,
  onChange,
  onExample,
}: {
  options: NewThreadOptions;
  onChange: (options: NewThreadOptions) => void;
  onExample: (text: string) => void;
}): ReactNode {
  const [about, setAbout] = useState<About | null>(null);
  useEffect(() => {
    let gone = false;
    readAbout().then(
      (read) => !gone && setAbout(read),
      () => undefined,
    );
    return () => {
      gone = true;
    };
  }, []);
  const demo = about?.server?.models?.startsWith("demo ") === true;
  const set = (fields: Partial<NewThreadOptions>) => onChange({ ...options, ...fields });
  return (
    <div className="new-thread">
      <p>
        This is Spool, a server that runs agents: they work on what you ask, also when nobody looks. Each step is saved,
        and what needs your approval waits for you.
      </p>
      {demo && (
        <div className="examples">
          <p className="faint">Try one of these, and press Send. The demo model calls the tools that a prompt names:</p>
          {examples.map(([about, text]) => (
            <button key={text} type="button" className="example" onClick={() => onExample(text)}>
              {about}
              <span className="mono small faint">{text}</span>
            </button>
          ))}
        </div>
      )}
      {about?.server?.agents !== undefined && (
        <dl className="facts">
          {(["agents", "models", "tools"] as const).map((name) =>
            about.server?.[name] === undefined ? null : (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{about.server[name]}</dd>
              </div>
            ),
          )}
        </dl>
      )}
      <details>
        <summary>Options of the first run</summary>
        <div className="form grid">
          <Field label="Agent" hint="Empty: the default one">
            {(id) => (
              <Name id={id} of={about?.server?.agents} value={options.agent} onChange={(agent) => set({ agent })} />
            )}
          </Field>
          <Field label="Model" hint="Empty: that of the agent">
            {(id) => (
              <Name id={id} of={about?.server?.models} value={options.model} onChange={(model) => set({ model })} />
            )}
          </Field>
          <Field label="Budget of tokens" hint="Empty: none of its own">
            {(id) => (
              <input
                id={id}
                inputMode="numeric"
                value={options.tokenBudget}
                onChange={(e) => set({ tokenBudget: e.target.value.replace(/\D/g, "") })}
              />
            )}
          </Field>
        </div>
      </details>
    </div>
  );
}

/** A name: one of those that the server knows, or any if it does not say which. */
function Name({
  id,
  of,
  value,
  onChange,
}: {
  id: string;
  of: string | undefined;
  value: string;
  onChange: (value: string) => void;
}): ReactNode {
  const names = namesOf(of);
  return names.length === 0 ? (
    <input id={id} value={value} onChange={(event) => onChange(event.target.value)} />
  ) : (
    <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="" />
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

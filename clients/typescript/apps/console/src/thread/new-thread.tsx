import { type ReactNode, useEffect, useState } from "react";
import { type About, readAbout } from "../session.js";
import { Field } from "../ui/parts.js";
import type { NewThreadOptions } from "./composer.js";

const examples = [
  "use clock",
  'use send_email with {"to": "ann@example.com", "text": "The report is ready."}',
  "slow 40",
];

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
      {demo && (
        <div className="examples">
          <p className="faint">The demo model repeats the prompt, and calls the tools that the prompt names:</p>
          {examples.map((text) => (
            <button key={text} type="button" className="example mono" onClick={() => onExample(text)}>
              {text}
            </button>
          ))}
        </div>
      )}
      <details>
        <summary>Options of the first run</summary>
        <div className="form grid">
          <Field label="Agent" hint="Empty: the default one">
            {(id) => <input id={id} value={options.agent} onChange={(e) => set({ agent: e.target.value })} />}
          </Field>
          <Field label="Model" hint="Empty: that of the agent">
            {(id) => <input id={id} value={options.model} onChange={(e) => set({ model: e.target.value })} />}
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

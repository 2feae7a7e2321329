// Makes a webhook, and shows its secret once.
import type { WebhookCreate, WebhookMade } from "@spool/client/automation";
import { type FormEvent, type ReactNode, useState } from "react";
import { go, to } from "../route.js";
import { Dialog, Field, messageOf, Problem } from "../ui/parts.js";
import { webhooks } from "./automation.js";

type Kind = NonNullable<WebhookCreate["events"]>[number];

const kinds: readonly Kind[] = [
  "run.waiting",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.expiring",
  "run.expired",
  "run.budget_reached",
  "run.handed_over",
  "run.started",
  "thread.deleted",
  "schedule.paused",
];

export function WebhookForm({ onClose }: { onClose: () => void }): ReactNode {
  const [fields, setFields] = useState({ name: "", url: "", form: "plain", approver: "", text: false });
  const [events, setEvents] = useState<readonly Kind[]>(["run.waiting", "run.completed", "run.failed"]);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState<WebhookMade | null>(null);
  const set = (some: Partial<typeof fields>) => setFields((now) => ({ ...now, ...some }));
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { name, url, form, approver, text } = fields;
      setMade(
        await webhooks.create({
          name,
          url,
          form: form as "plain" | "slack",
          text,
          events: events.length === kinds.length ? [] : [...events],
          ...(approver !== "" && { approver }),
        }),
      );
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  if (made !== null) {
    return (
      <Secret
        secret={made.secret ?? ""}
        onClose={() => {
          onClose();
          go(to.webhook(made.name));
        }}
      />
    );
  }
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <form className="form" onSubmit={(event) => void save(event)}>
        <Field label="Name">
          {(id) => (
            <input
              id={id}
              value={fields.name}
              placeholder="billing"
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label="URL" hint="Nobody sees more of it afterwards than its host">
          {(id) => (
            <input
              id={id}
              type="url"
              value={fields.url}
              placeholder="https://hooks.example.com/spool"
              onChange={(event) => set({ url: event.target.value })}
            />
          )}
        </Field>
        <fieldset>
          <legend>Events</legend>
          <div className="form grid">
            {kinds.map((kind) => (
              <label key={kind}>
                <input
                  type="checkbox"
                  checked={events.includes(kind)}
                  onChange={(event) =>
                    setEvents((now) => (event.target.checked ? [...now, kind] : now.filter((one) => one !== kind)))
                  }
                />{" "}
                {kind}
              </label>
            ))}
          </div>
        </fieldset>
        <div className="form grid">
          <Field label="Form">
            {(id) => (
              <select id={id} value={fields.form} onChange={(event) => set({ form: event.target.value })}>
                <option value="plain">plain: the event as JSON</option>
                <option value="slack">slack: a message</option>
              </select>
            )}
          </Field>
          <Field label="Approver" hint="Who answers with the links in it. Empty: no links">
            {(id) => (
              <input
                id={id}
                value={fields.approver}
                placeholder="ann@example.com"
                onChange={(event) => set({ approver: event.target.value })}
              />
            )}
          </Field>
        </div>
        <label>
          <input type="checkbox" checked={fields.text} onChange={(event) => set({ text: event.target.checked })} /> With
          the last answer of the run
        </label>
        {problem !== "" && <Problem>{problem}</Problem>}
        <div className="actions">
          <button
            type="submit"
            className="primary"
            disabled={busy || fields.name === "" || fields.url === "" || events.length === 0}
          >
            Make it
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Shows a secret this once. */
export function Secret({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const [copied, setCopied] = useState(false);
  return (
    <Dialog title="The secret" onClose={onClose}>
      <p>The receiver checks signatures with it. It is shown this once: keep it now.</p>
      <p className="code mono">{secret}</p>
      <div className="actions">
        <button
          type="button"
          className="primary"
          onClick={() => {
            void navigator.clipboard?.writeText(secret).then(() => setCopied(true));
          }}
        >
          {copied ? "Copied" : "Copy it"}
        </button>
        <button type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

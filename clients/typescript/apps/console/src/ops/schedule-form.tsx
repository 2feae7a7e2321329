// Makes a schedule, or changes one. What it says of the rule comes from the server, which counts the times.
import type { Schedule, SchedulePreview, ScheduleRequest, ScheduleRule } from "@spool/client/automation";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { go, to } from "../route.js";
import { inZone } from "../ui/format.js";
import { Dialog, Field, messageOf, Problem } from "../ui/parts.js";
import { schedules } from "./automation.js";

const kinds = [
  ["cron", "At times of the day (cron)"],
  ["every", "Again and again, after a time"],
  ["at", "Once"],
] as const;

type Kind = (typeof kinds)[number][0];

const overlaps = ["skip", "reject", "enqueue", "latest", "interrupt", "rollback", "steer"] as const;
const misses = ["latest", "skip", "all"] as const;

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What the fields have. */
interface Fields {
  name: string;
  kind: Kind;
  cron: string;
  zone: string;
  every: string;
  at: string;
  prompt: string;
  agent: string;
  threadId: string;
  overlap: string;
  missed: string;
  jitter: string;
}

export function ScheduleForm({ schedule, onClose }: { schedule?: Schedule; onClose: () => void }): ReactNode {
  const [fields, setFields] = useState(() => fieldsOf(schedule));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const preview = usePreview(ruleOf(fields));
  const set = (some: Partial<Fields>) => setFields((now) => ({ ...now, ...some }));
  const text = (name: keyof Fields, label: string, hint?: string, example?: string) => (
    <Field label={label} hint={hint}>
      {(id) => (
        <input
          id={id}
          value={fields[name]}
          placeholder={example}
          onChange={(event) => set({ [name]: event.target.value })}
        />
      )}
    </Field>
  );
  const choice = (name: keyof Fields, label: string, of: readonly (readonly [string, string])[]) => (
    <Field label={label}>
      {(id) => (
        <select id={id} value={fields[name]} onChange={(event) => set({ [name]: event.target.value })}>
          {of.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { name, ...request } = requestOf(fields);
      if (schedule === undefined) {
        await schedules.create({ name, ...request });
        go(to.schedule(name));
      } else {
        await schedules.change(name, request);
      }
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={schedule === undefined ? "New schedule" : `Change ${schedule.name}`} onClose={onClose}>
      <form className="form" onSubmit={(event) => void save(event)}>
        {schedule === undefined && text("name", "Name", undefined, "nightly-report")}
        <Field label="Prompt">
          {(id) => (
            <textarea
              id={id}
              rows={3}
              value={fields.prompt}
              onChange={(event) => set({ prompt: event.target.value })}
            />
          )}
        </Field>
        {choice("kind", "When", kinds)}
        {fields.kind === "cron" && (
          <div className="form grid">
            {text("cron", "Pattern", "minute, hour, day, month, day of the week")}
            {text("zone", "Time zone")}
          </div>
        )}
        {fields.kind === "every" && text("every", "Every", "At least 1m", "15m")}
        {fields.kind === "at" && (
          <Field label="At" hint="In your time zone">
            {(id) => (
              <input
                id={id}
                type="datetime-local"
                value={fields.at}
                onChange={(event) => set({ at: event.target.value })}
              />
            )}
          </Field>
        )}
        <Preview preview={preview} zone={fields.kind === "cron" ? fields.zone : here} />
        <details>
          <summary>Agent, thread, and what else may happen</summary>
          <div className="form grid">
            {text("agent", "Agent", "Empty: the default one")}
            {text("threadId", "Thread", "Empty: a new one for each run")}
            {choice(
              "overlap",
              "While a run is active",
              overlaps.map((one) => [one, one]),
            )}
            {choice(
              "missed",
              "Missed times to start",
              misses.map((one) => [one, one]),
            )}
            {text("jitter", "Spread by up to", "Such as 30s")}
          </div>
        </details>
        {problem !== "" && <Problem>{problem}</Problem>}
        <div className="actions">
          <button type="submit" className="primary" disabled={busy || fields.prompt.trim() === ""}>
            {schedule === undefined ? "Make it" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Preview({ preview, zone }: { preview: SchedulePreview | string | null; zone: string }): ReactNode {
  return (
    <div role="status">
      {typeof preview === "string" ? (
        <p className="hint bad">{preview}</p>
      ) : (
        preview !== null && (
          <>
            <p>{preview.inWords}</p>
            <ol className="times small faint">
              {preview.next.map((at) => (
                <li key={at}>
                  <time dateTime={at}>{inZone(at, zone)}</time>
                </li>
              ))}
            </ol>
          </>
        )
      )}
    </div>
  );
}

/** What the server says of a rule, or why it refuses it. Null: nothing yet. */
function usePreview(rule: ScheduleRule): SchedulePreview | string | null {
  const [answer, setAnswer] = useState<SchedulePreview | string | null>(null);
  const key = JSON.stringify(rule);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const said = await schedules
        .preview(JSON.parse(key) as ScheduleRule, { signal: stop.signal })
        .catch((error: unknown) => messageOf(error));
      if (!stop.signal.aborted) {
        setAnswer(said);
      }
    }, 300);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return answer;
}

function fieldsOf(one: Schedule | undefined): Fields {
  return {
    name: one?.name ?? "",
    kind: one?.every !== undefined ? "every" : one?.at !== undefined ? "at" : "cron",
    cron: one?.cron ?? "0 9 * * 1-5",
    zone: one?.zone ?? here,
    every: one?.every ?? "1h",
    at: one?.at === undefined ? "" : local(new Date(one.at)),
    prompt: one?.prompt ?? "",
    agent: one?.agent ?? "",
    threadId: one?.threadId ?? "",
    overlap: one?.overlap ?? "skip",
    missed: one?.missed ?? "latest",
    jitter: one?.jitter ?? "",
  };
}

function ruleOf({ kind, cron, zone, every, at }: Fields): ScheduleRule {
  switch (kind) {
    case "cron":
      return { cron, zone };
    case "every":
      return { every };
    default:
      return at === "" ? {} : { at: new Date(at).toISOString() };
  }
}

function requestOf(fields: Fields): ScheduleRequest {
  const { name, prompt, agent, threadId, jitter } = fields;
  return {
    name,
    prompt,
    ...ruleOf(fields),
    overlap: fields.overlap as (typeof overlaps)[number],
    missed: fields.missed as (typeof misses)[number],
    agent,
    threadId,
    jitter,
  };
}

/** A time as an input of the browser has it. */
function local(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// One webhook: its attempts, the events that could not be delivered, and its secrets.
import type { WebhookAttempt, WebhookEndpoint } from "@spool/client/automation";
import { type ReactNode, useState } from "react";
import { go, to } from "../route.js";
import { duration, moment } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Empty, Problem } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { every } from "./admin.js";
import { useActing, webhooks } from "./automation.js";
import { type Fact, FactList } from "./facts.js";
import { Failed } from "./failed.js";
import { Sure } from "./sure.js";
import { Secret } from "./webhook-form.js";

export function WebhookPage({ name }: { name: string }): ReactNode {
  const [asked, setAsked] = useState<"" | "remove" | "drop">("");
  const [secret, setSecret] = useState("");
  const one = usePoll(`webhook ${name}`, every, (signal) => webhooks.get(name, { signal }));
  const attempts = usePoll(`attempts ${name}`, every, (signal) => webhooks.attempts(name, { signal }));
  const dead = usePoll(`dead ${name}`, every, (signal) => webhooks.dead(name, { signal }));
  const { act, status, problem, busy } = useActing(() => {
    one.refresh();
    attempts.refresh();
    dead.refresh();
  });
  const now = useNow();
  const { value } = one;
  const off = value?.disabledAt !== undefined;
  const button = (text: string, what: () => Promise<string>, look = "quiet") => (
    <button type="button" className={look} disabled={busy} onClick={() => void act(what)}>
      {text}
    </button>
  );
  const oldest = dead.value?.at(-1)?.diedAt;
  return (
    <>
      <div className="ops-head">
        <h1 className="clip mono">{name}</h1>
        {off && <span className="tag">off</span>}
        {value !== null && value.host !== true && (
          <span className="tools">
            {button("Send a test", async () => {
              const attempt = await webhooks.test(name);
              return attempt.result === "delivered"
                ? `The test was delivered: ${attempt.status}`
                : `The test was not delivered: ${attempt.error ?? attempt.status}`;
            })}
            {button(off ? "Turn on" : "Turn off", async () => {
              await webhooks.change(name, { disabled: !off });
              return off ? `${name} gets events` : `${name} gets no events`;
            })}
            {value.fromFile !== true && (
              <>
                {value.secrets === 2 ? (
                  <button type="button" className="quiet" onClick={() => setAsked("drop")}>
                    Drop the old secret
                  </button>
                ) : (
                  button("New secret", async () => {
                    setSecret((await webhooks.rotate(name)).secret ?? "");
                    return "Both secrets sign until the old one is dropped";
                  })
                )}
                <button type="button" className="danger" onClick={() => setAsked("remove")}>
                  Remove
                </button>
              </>
            )}
          </span>
        )}
      </div>
      <Failed error={one.error} scope="webhooks" />
      <p role="status">{status}</p>
      {problem !== "" && <Problem>{problem}</Problem>}
      {value?.disabledReason !== undefined && <Problem>{value.disabledReason}</Problem>}
      {value !== null && <FactList facts={factsOf(value, now)} />}
      {dead.value !== null && dead.value.length > 0 && (
        <section>
          <div className="ops-head">
            <h2>Not delivered</h2>
            <span className="tools">
              {oldest !== undefined && button("Replay all", () => replayAll(name, oldest), "")}
            </span>
          </div>
          <div className="wide">
            <table>
              <thead>
                <tr>
                  <th>event</th>
                  <th>type</th>
                  <th>thread</th>
                  <th className="num">given up</th>
                  <th>
                    <span className="sr">actions</span>
                  </th>
                  <th>why</th>
                </tr>
              </thead>
              <tbody>
                {dead.value.map((event) => (
                  <tr key={event.eventId}>
                    <td className="mono id">{event.eventId}</td>
                    <td>{event.type}</td>
                    <td className="mono id">
                      <Thread id={event.threadId} />
                    </td>
                    <td className="num">{moment(event.diedAt, now)}</td>
                    <td>
                      {button("Replay", async () => {
                        await webhooks.replay(name, { eventId: event.eventId });
                        return `${event.eventId} waits again`;
                      })}
                    </td>
                    <td className="bad">{event.cause}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      <section>
        <h2>Attempts</h2>
        <Failed error={attempts.error} scope="webhooks" />
        {attempts.value?.length === 0 && <Empty title="No event has come yet" />}
        {attempts.value !== null && attempts.value.length > 0 && <Attempts attempts={attempts.value} now={now} />}
      </section>
      {secret !== "" && <Secret secret={secret} onClose={() => setSecret("")} />}
      {asked === "drop" && (
        <Sure
          title="Drop the old secret?"
          about="Receivers that know only the old one refuse events from then on."
          yes="Drop it"
          danger
          onYes={async () => {
            setAsked("");
            await act(async () => {
              await webhooks.dropSecret(name);
              return "Only the new secret signs";
            });
          }}
          onClose={() => setAsked("")}
        />
      )}
      {asked === "remove" && (
        <Sure
          title={`Remove ${name}?`}
          about="It gets no event any more, not even those that wait. The links that it has sent stop working."
          yes="Remove it"
          danger
          onYes={async () => {
            setAsked("");
            await act(async () => {
              await webhooks.remove(name);
              go(to.webhooks);
              return "";
            });
          }}
          onClose={() => setAsked("")}
        />
      )}
    </>
  );
}

async function replayAll(name: string, since: string): Promise<string> {
  for (let all = 0; ; ) {
    const { events, more } = await webhooks.replay(name, { since });
    all += events;
    if (more !== true || events === 0) {
      return `${all} wait again`;
    }
  }
}

function Thread({ id }: { id: string | undefined }): ReactNode {
  return id === undefined ? null : <a href={to.thread(id)}>{id}</a>;
}

function Attempts({ attempts, now }: { attempts: readonly WebhookAttempt[]; now: number }): ReactNode {
  return (
    <div className="wide">
      <table>
        <thead>
          <tr>
            <th className="num">at</th>
            <th>type</th>
            <th>thread</th>
            <th className="num">attempt</th>
            <th>result</th>
            <th className="num">status</th>
            <th className="num">took</th>
            <th className="num">next</th>
            <th>answer</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((one) => (
            <tr key={`${one.eventId} ${one.attempt} ${one.at}`}>
              <td className="num">{moment(one.at, now)}</td>
              <td title={one.eventId}>{one.type}</td>
              <td className="mono id">
                <Thread id={one.threadId} />
              </td>
              <td className="num">{one.attempt}</td>
              <td className={one.result === "delivered" ? "" : "bad"}>{one.result}</td>
              <td className="num">{one.status}</td>
              <td className="num">{duration(one.durationMs)}</td>
              <td className="num">{one.nextAt !== undefined && moment(one.nextAt, now)}</td>
              <td>{one.error ?? one.answer}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function factsOf(one: WebhookEndpoint, now: number): Fact[] {
  return [
    ["host", one.origin],
    ["form", one.form],
    ["events", one.host === true ? "of starts that name it" : (one.events?.join(", ") ?? "all")],
    ["agents", one.agents?.join(", ")],
    [
      "labels",
      one.labels &&
        Object.entries(one.labels)
          .map(([key, value]) => `${key}: ${value}`)
          .join(", "),
    ],
    ["text", one.text === true && "with the last answer"],
    ["approver", one.approver],
    ["threads", one.ownOnly === true && "those of its maker"],
    ["secrets", one.secrets],
    ["made by", one.fromFile === true ? "the configuration" : one.madeBy],
    ["made", one.createdAt && moment(one.createdAt, now)],
  ];
}

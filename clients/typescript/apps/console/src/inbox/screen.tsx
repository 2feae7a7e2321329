// Everything that waits for a person, over all threads, with keys: most of an inbox is answered without a mouse.
import type { ActionResult, Answer, Question } from "@spool/client";
import { SpoolError } from "@spool/client";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { typing } from "../keys.js";
import { to } from "../route.js";
import { client } from "../session.js";
import { ParkPanel } from "../thread/park.js";
import { ago, bytes, duration, glance, since, visible } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Dialog, Empty, messageOf, Problem } from "../ui/parts.js";
import { askOf } from "../words/question.js";
import { Expired } from "./expired.js";
import { leadOf } from "./lead.js";
import { dropFromInbox, keyOf, moreOfInbox, setInboxFilter, useInbox } from "./store.js";

/** Sends an answer to a question. */
async function send(question: Question, answer: Answer): Promise<ActionResult> {
  try {
    const result = await client.respond(question.threadId, {
      ...answer,
      toolCallId: question.toolCallId,
      ...(question.digest !== undefined && { digest: question.digest }),
    });
    return result.delivered ? { ok: true } : { ok: false, error: refusal(result) };
  } catch (error) {
    return { ok: false, error: error instanceof SpoolError ? error : new SpoolError("internal", messageOf(error)) };
  }
}

function refusal({ reason, error }: { reason?: string; error?: string }): SpoolError {
  const words: Record<string, string> = {
    already_answered: "Somebody has answered it.",
    changed: "The call asks something else by now. The list shows it in a moment.",
    no_park: "It waits no longer: it was answered, its time is over, or the run was stopped.",
    same_approver: "Who started the run may not answer.",
  };
  return new SpoolError("conflict", words[reason ?? ""] ?? error ?? "The server refuses the answer.");
}

/** A question whose arguments are all there, and whose answer is a yes or a no. */
function simple(question: Question): boolean {
  return question.reason === "approval" && question.argumentsBytes === undefined && question.digest !== undefined;
}

export default function InboxScreen(): ReactNode {
  const [expired, setExpired] = useState(false);
  const tab = (name: string, shows: boolean) => (
    <button type="button" role="tab" aria-selected={expired === shows} onClick={() => setExpired(shows)}>
      {name}
    </button>
  );
  const tabs = (
    <div className="tabs" role="tablist" aria-label="Which questions">
      {tab("Waiting", false)}
      {tab("Expired", true)}
    </div>
  );
  return expired ? <Expired tabs={tabs} /> : <Waiting tabs={tabs} />;
}

function Waiting({ tabs }: { tabs: ReactNode }): ReactNode {
  const { questions, hasMore, loading, error } = useInbox();
  const [currentKey, setCurrentKey] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [batch, setBatch] = useState<boolean | null>(null);
  const [said, setSaid] = useState("");
  const place = Math.max(
    0,
    questions.findIndex((one) => keyOf(one) === currentKey),
  );
  const current = questions[place];
  const picked = questions.filter((one) => chosen.has(keyOf(one)) && simple(one));

  const show = useCallback((question: Question | undefined) => {
    if (question !== undefined) {
      setCurrentKey(keyOf(question));
      document.getElementById(`q ${keyOf(question)}`)?.scrollIntoView({ block: "nearest" });
    }
  }, []);
  const choose = useCallback((question: Question) => {
    const key = keyOf(question);
    setChosen((now) => {
      const next = new Set(now);
      if (!next.delete(key)) {
        next.add(key);
      }
      return next;
    });
  }, []);

  const answered = useCallback((question: Question, next: Question | undefined, text: string) => {
    setSaid(`${text}: ${question.toolName}`);
    dropFromInbox(new Set([keyOf(question)]));
    if (next !== undefined) {
      setCurrentKey(keyOf(next));
    }
  }, []);

  const keys = useRef<(key: string) => boolean>(() => false);
  keys.current = (key) => {
    switch (key) {
      case "j":
        show(questions[Math.min(place + 1, questions.length - 1)]);
        return true;
      case "k":
        show(questions[Math.max(place - 1, 0)]);
        return true;
      case "x":
        if (current !== undefined && simple(current)) {
          choose(current);
        }
        return true;
      case "a":
      case "d":
        if (picked.length > 0) {
          setBatch(key === "a");
        } else {
          document
            .querySelector<HTMLButtonElement>(`.inbox-one [data-role="${key === "a" ? "approve" : "deny"}"]`)
            ?.click();
        }
        return true;
      case "e":
        // The field is there before the next key.
        flushSync(() => document.querySelector<HTMLButtonElement>('.inbox-one [data-role="edit"]')?.click());
        document.querySelector<HTMLElement>(".inbox-one .edit input, .inbox-one .edit textarea")?.focus();
        return true;
      case "r":
        document.querySelector<HTMLElement>('.inbox-one [data-role="reason"]')?.focus();
        return true;
      default:
        return false;
    }
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!typing(event) && keys.current(event.key)) {
        event.preventDefault();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);

  return (
    <div className="inbox">
      <nav className="inbox-list" aria-label="Questions">
        {tabs}
        <Filters />
        {error !== null && <Problem>{messageOf(error)}</Problem>}
        {picked.length > 0 && (
          <div className="batch">
            <span>{picked.length} chosen</span>
            <button type="button" className="primary" onClick={() => setBatch(true)}>
              Approve
            </button>
            <button type="button" className="danger" onClick={() => setBatch(false)}>
              Deny
            </button>
            <button type="button" className="quiet" onClick={() => setChosen(new Set())}>
              None
            </button>
          </div>
        )}
        <ul className="rows">
          {questions.map((question) => (
            <Row
              key={keyOf(question)}
              question={question}
              lead={leadOf(question, questions)}
              current={question === current}
              chosen={chosen.has(keyOf(question))}
              onShow={show}
              onChoose={choose}
            />
          ))}
        </ul>
        {hasMore && (
          <button type="button" className="quiet more" onClick={moreOfInbox}>
            Show more
          </button>
        )}
      </nav>
      <main id="main" className="inbox-one">
        <p className="sr" role="status">
          {said}
        </p>
        {current === undefined ? (
          !loading &&
          error === null && (
            <Empty title="Nothing waits for you">
              <p>Calls that need an approval, and other questions of agents, come here from all threads.</p>
            </Empty>
          )
        ) : (
          <One
            key={keyOf(current)}
            question={current}
            onAnswered={(text) => answered(current, questions[place + 1] ?? questions[place - 1], text)}
          />
        )}
        <p className="keys-line faint">
          <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>a</kbd> approve, <kbd>d</kbd> deny, <kbd>e</kbd> edit,{" "}
          <kbd>r</kbd> reason, <kbd>x</kbd> choose several
        </p>
      </main>
      {batch !== null && (
        <Batch
          questions={picked}
          approve={batch}
          onClose={() => setBatch(null)}
          onDone={(done) => {
            dropFromInbox(done);
            setChosen(new Set());
          }}
        />
      )}
    </div>
  );
}

function Filters(): ReactNode {
  const { filter } = useInbox();
  const [tool, setTool] = useState(filter.tool ?? "");
  const [agent, setAgent] = useState(filter.agent ?? "");
  const order = filter.order ?? "expiry";
  const apply = (order: string) =>
    setInboxFilter({ order, ...(tool !== "" && { tool }), ...(agent !== "" && { agent }) });
  return (
    <form
      className="list-head two"
      onSubmit={(event) => {
        event.preventDefault();
        apply(order);
      }}
    >
      <select aria-label="Order" value={order} onChange={(event) => apply(event.target.value)}>
        <option value="expiry">Soonest to expire first</option>
        <option value="age">Oldest first</option>
      </select>
      <input
        id="search"
        aria-label="Only this tool"
        placeholder="Tool"
        value={tool}
        onChange={(event) => setTool(event.target.value)}
      />
      <input
        aria-label="Only this agent"
        placeholder="Agent"
        value={agent}
        onChange={(event) => setAgent(event.target.value)}
      />
      <button type="submit">Filter</button>
    </form>
  );
}

function Row({
  question,
  lead,
  current,
  chosen,
  onShow,
  onChoose,
}: {
  question: Question;
  /** What the row begins with. */
  lead: string;
  current: boolean;
  chosen: boolean;
  onShow: (question: Question) => void;
  onChoose: (question: Question) => void;
}): ReactNode {
  const now = useNow();
  const left = question.expiresAt === undefined ? null : new Date(question.expiresAt).getTime() - now;
  return (
    <li id={`q ${keyOf(question)}`} className="inbox-row" data-current={current}>
      <input
        type="checkbox"
        aria-label={`Choose ${question.toolName} of ${question.title || question.threadId}`}
        checked={chosen}
        disabled={!simple(question)}
        onChange={() => onChoose(question)}
      />
      <button type="button" aria-current={current ? "true" : undefined} onClick={() => onShow(question)}>
        <span className="row-line">
          <span className="lead clip">{lead}</span>
          <span className={left !== null && left < 120_000 ? "num bad" : "num"}>
            {left === null ? ago(question.askedAt, now) : left > 0 ? `${duration(left)} left` : "expired"}
          </span>
        </span>
        <span className="row-line">
          <span className="call-name">{question.toolName}</span>
          {question.reason !== "approval" && <span className="tag warn">{question.reason.replaceAll("_", " ")}</span>}
          <span className="clip">
            {visible(question.title || question.threadId)}, {question.path.join(" › ")}
          </span>
        </span>
      </button>
    </li>
  );
}

function One({ question, onAnswered }: { question: Question; onAnswered: (text: string) => void }): ReactNode {
  const [answering, setAnswering] = useState(false);
  const now = useNow(5);
  const respond = async (answer: Answer) => {
    setAnswering(true);
    const result = await send(question, answer);
    setAnswering(false);
    if (result.ok) {
      onAnswered(answer.approved ? "Approved" : "Denied");
    }
    return result;
  };
  const about = (
    <dl className="facts">
      <div>
        <dt>thread</dt>
        <dd>
          <a href={to.thread(question.threadId)}>{visible(question.title || question.threadId)}</a>
        </dd>
      </div>
      <div>
        <dt>agent</dt>
        <dd>{question.path.join(" › ")}</dd>
      </div>
      {question.startedBy !== undefined && (
        <div>
          <dt>for</dt>
          <dd>{question.startedBy}</dd>
        </div>
      )}
      <div>
        <dt>asked</dt>
        <dd>{since(question.askedAt, now)}</dd>
      </div>
    </dl>
  );
  if (question.argumentsBytes !== undefined) {
    return (
      <section className="park">
        <h3>To {askOf(question)}</h3>
        {about}
        <p>
          The arguments have {bytes(question.argumentsBytes)}.{" "}
          <a href={to.thread(question.threadId)}>Read them in the thread</a>, and answer there.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
        <section className="code" aria-label="the beginning of the arguments" tabIndex={0}>
          <pre>{visible(question.argumentsPreview ?? "")}</pre>
        </section>
      </section>
    );
  }
  return (
    <ParkPanel park={question} answering={answering} respond={respond}>
      {about}
    </ParkPanel>
  );
}

/** How many answers a request has at most. */
const most = 100;

/** Gives one answer to several questions. Each is answered for itself, so one that has changed does not stop the others. */
function Batch({
  questions,
  approve,
  onClose,
  onDone,
}: {
  questions: readonly Question[];
  approve: boolean;
  onClose: () => void;
  onDone: (answered: ReadonlySet<string>) => void;
}): ReactNode {
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  // The list goes on while the dialog is open: what was chosen stays.
  const [asked] = useState(questions);
  const go = async () => {
    setBusy(true);
    const done = new Set<string>();
    const failed: string[] = [];
    const note = (question: Question, problem: string) =>
      failed.push(`${question.toolName} in ${question.title || question.threadId}: ${problem}`);
    for (let at = 0; at < asked.length; at += most) {
      const some = asked.slice(at, at + most);
      try {
        const results = await client.answerInbox(
          some.map((question) => ({
            threadId: question.threadId,
            toolCallId: question.toolCallId,
            digest: question.digest ?? "",
            approved: approve,
            ...(reason.trim() !== "" && { reason: reason.trim() }),
          })),
        );
        for (const [i, question] of some.entries()) {
          const result = results[i];
          if (result?.delivered === true) {
            done.add(keyOf(question));
          } else {
            note(question, messageOf(refusal(result ?? {})));
          }
        }
      } catch (error) {
        for (const question of some) {
          note(question, messageOf(error));
        }
      }
    }
    setBusy(false);
    onDone(done);
    if (failed.length === 0) {
      onClose();
    } else {
      setProblems(failed);
    }
  };
  return (
    <Dialog
      title={`${approve ? "Approve" : "Deny"} ${asked.length} ${asked.length === 1 ? "call" : "calls"}?`}
      onClose={onClose}
    >
      <ul className="batch-list">
        {asked.map((question) => (
          <li key={keyOf(question)}>
            <span className="call-name">{question.toolName}</span>{" "}
            <span className="mono small">{glance(question.arguments, 80)}</span>
          </li>
        ))}
      </ul>
      {problems.length === 0 ? (
        <>
          <input
            aria-label="Reason"
            placeholder="Reason, for the models and the record"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
          <div className="actions">
            <button type="button" className={approve ? "primary" : "danger"} disabled={busy} onClick={() => void go()}>
              {approve ? "Approve all" : "Deny all"}
            </button>
          </div>
        </>
      ) : (
        problems.map((problem) => <Problem key={problem}>{problem}</Problem>)
      )}
    </Dialog>
  );
}

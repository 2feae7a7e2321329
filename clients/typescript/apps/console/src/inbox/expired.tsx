// The questions that nobody answered in time.
import { type ReactNode, useState } from "react";
import { to } from "../route.js";
import { client } from "../session.js";
import { moment, visible } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { Empty, messageOf, Problem } from "../ui/parts.js";
import { usePoll } from "../ui/poll.js";
import { leadOf } from "./lead.js";
import { keyOf } from "./store.js";

const every = 10_000;
const page = 100;

export function Expired({ tabs }: { tabs: ReactNode }): ReactNode {
  const [limit, setLimit] = useState(page);
  const { value, error } = usePoll(String(limit), every, (signal) => client.inbox({ state: "expired", limit, signal }));
  const now = useNow(5);
  return (
    <div className="inbox">
      <nav className="inbox-list" aria-label="Expired questions">
        {tabs}
        {error !== null && <Problem>{messageOf(error)}</Problem>}
        <ul className="rows">
          {value?.questions.map((question) => (
            <li key={keyOf(question)}>
              <a href={to.thread(question.threadId)}>
                <span className="row-line">
                  <span className="lead clip">{leadOf(question, value.questions)}</span>
                  <span className="num">until {moment(question.expiresAt ?? question.askedAt, now)}</span>
                </span>
                <span className="row-line">
                  <span className="call-name">{question.toolName}</span>
                  <span className="clip">
                    {visible(question.title || question.threadId)}, {question.path.join(" › ")}
                  </span>
                </span>
              </a>
            </li>
          ))}
        </ul>
        {value?.next !== undefined && limit < 1000 && (
          <button type="button" className="quiet more" onClick={() => setLimit(Math.min(1000, limit + page))}>
            Show more
          </button>
        )}
      </nav>
      <main id="main" className="inbox-one">
        {value !== null && (
          <Empty title={value.questions.length === 0 ? "No question has expired" : "Nobody answered these in time"}>
            <p>A run goes on without the call that waited, unless its tool says otherwise. Look at its thread.</p>
          </Empty>
        )}
      </main>
    </div>
  );
}

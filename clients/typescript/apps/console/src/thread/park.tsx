// A question that waits for a person, with everything that the answer depends on.
import type { ActionResult, Answer } from "@spool/client";
import { type ReactNode, useId, useState } from "react";
import { duration, visible } from "../ui/format.js";
import { useNow } from "../ui/now.js";
import { messageOf, Problem } from "../ui/parts.js";
import { askOf, budgetOf } from "../words/question.js";
import { Approval, Budget, ClientTool, Outcome, Question, type ShownPark } from "./answers.js";

/** Sends an answer. */
export type Respond = (answer: Answer) => Promise<ActionResult>;

export interface ParkProps {
  park: ShownPark;
  answering: boolean;
  respond: Respond;
  /** Stands above the question, such as a link to its thread. */
  children?: ReactNode;
}

const bodies: Record<string, typeof Question> = {
  approval: Approval,
  outcome_unknown: Outcome,
  budget_reached: Budget,
  client_tool: ClientTool,
};

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
  const Body = bodies[park.reason] ?? Question;
  return (
    <section className="park" aria-labelledby={title} data-call={park.toolCallId}>
      <header>
        <h3 id={title}>{visible(titleOf(park))}</h3>
        {park.expiresAt !== undefined && <Countdown at={park.expiresAt} onExpiry={park.onExpiry} />}
      </header>
      {children}
      {park.nested && <p className="faint">Asked by the nested run of {visible(park.nested.name)}.</p>}
      {park.distinctApprover === true && <p className="faint">The person who started the run may not answer.</p>}
      <Body park={park} answering={answering} answer={answer} />
      {problem !== "" && <Problem>{problem}</Problem>}
    </section>
  );
}

/** What is asked, in a few words. */
export function titleOf(park: ShownPark): string {
  switch (park.reason) {
    case "approval":
      return `Allow ${park.toolName}?`;
    case "outcome_unknown":
      return `What did ${park.toolName} do?`;
    case "budget_reached":
      return `The budget of ${budgetOf(park.arguments)} is not enough`;
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

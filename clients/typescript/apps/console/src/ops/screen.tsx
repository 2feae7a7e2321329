// What runs on the server, what is stuck, and what died.
import { SpoolError } from "@spool/client";
import type { ReactNode } from "react";
import { to } from "../route.js";
import { messageOf, Problem } from "../ui/parts.js";
import { Jobs } from "./jobs.js";
import { Overview } from "./overview.js";
import { RunPage } from "./run.js";
import { Runs } from "./runs.js";

export default function Operations({
  part,
  runId,
}: {
  part: "overview" | "runs" | "jobs";
  runId: string | null;
}): ReactNode {
  const tab = (one: typeof part, href: string, name: string) => (
    <a href={href} aria-current={part === one ? "page" : undefined}>
      {name}
    </a>
  );
  return (
    <main id="main" className="ops">
      <nav className="ops-tabs" aria-label="Operations">
        {tab("overview", to.operations, "Overview")}
        {tab("runs", to.runs, "Runs")}
        {tab("jobs", to.jobs, "Jobs")}
      </nav>
      <div className="ops-body">
        {part === "overview" && <Overview />}
        {part === "runs" && (runId === null ? <Runs /> : <RunPage key={runId} runId={runId} />)}
        {part === "jobs" && <Jobs />}
      </div>
    </main>
  );
}

/** Why a screen of operators has nothing to show. */
export function Failed({ error }: { error: unknown }): ReactNode {
  if (error === null) {
    return null;
  }
  const refused = error instanceof SpoolError && error.code === "forbidden";
  return <Problem>{refused ? "Your token does not have the scope admin." : messageOf(error)}</Problem>;
}

// What runs on the server, what is stuck, and what died.
import type { ReactNode } from "react";
import { to } from "../route.js";
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

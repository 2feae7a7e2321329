// What runs on the server, what is stuck, what died, what starts by itself, and who is told.
import type { ReactNode } from "react";
import { type Part, to } from "../route.js";
import { Jobs } from "./jobs.js";
import { Overview } from "./overview.js";
import { RunPage } from "./run.js";
import { Runs } from "./runs.js";
import { SchedulePage } from "./schedule.js";
import { Schedules } from "./schedules.js";
import { WebhookPage } from "./webhook.js";
import { Webhooks } from "./webhooks.js";

export default function Operations({ part, name }: { part: Part; name: string | null }): ReactNode {
  const tab = (one: Part, href: string, text: string) => (
    <a href={href} aria-current={part === one ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <main id="main" className="ops">
      <nav className="ops-tabs" aria-label="Operations">
        {tab("overview", to.operations, "Overview")}
        {tab("runs", to.runs, "Runs")}
        {tab("jobs", to.jobs, "Jobs")}
        {tab("schedules", to.schedules, "Schedules")}
        {tab("webhooks", to.webhooks, "Webhooks")}
      </nav>
      <div className="ops-body">
        {part === "overview" && <Overview />}
        {part === "runs" && (name === null ? <Runs /> : <RunPage key={name} runId={name} />)}
        {part === "jobs" && <Jobs />}
        {part === "schedules" && (name === null ? <Schedules /> : <SchedulePage key={name} name={name} />)}
        {part === "webhooks" && (name === null ? <Webhooks /> : <WebhookPage key={name} name={name} />)}
      </div>
    </main>
  );
}

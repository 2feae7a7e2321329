// The operations of those who operate a server. They need the scope admin. A page for users does not import them.
import type { CallOptions } from "./options.js";
import { withQuery } from "./routes.js";
import type { components } from "./types.gen.js";
import type { Client } from "./types.js";

type Schemas = components["schemas"];
type Query<Name extends keyof Schemas> = Schemas[Name] & CallOptions;

export type AdminJob = Schemas["AdminJob"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditList = Schemas["AuditList"];
export type JobList = Schemas["JobList"];
export type Overview = Schemas["Overview"];
export type PruneAnswer = Schemas["PruneAnswer"];
export type PurgeAnswer = Schemas["PurgeAnswer"];
export type RedriveAnswer = Schemas["RedriveAnswer"];
export type Revision = Schemas["Revision"];
export type RevisionList = Schemas["RevisionList"];
export type RunDetail = Schemas["RunDetail"];
export type RunList = Schemas["RunList"];

/**
 * Operates a server. A refusal, such as the stop of a run that has ended, throws a `SpoolError` whose `result` has the
 * answer. Lists have a `next`, which is the `before` of the next page.
 */
export interface Admin {
  overview(query?: Query<"OverviewQuery">): Promise<Overview>;
  /** The runs of the tenant, with nested ones, the last accepted one first. */
  runs(query?: Query<"RunsQuery">): Promise<RunList>;
  /** One run with its steps, calls, waits and model calls. */
  run(runId: string, query?: Query<"RunQuery">): Promise<RunDetail>;
  /** Stops a run, or a thread with all its waiting runs. */
  stop(request: Schemas["OperatorStopRequest"], options?: CallOptions): Promise<Schemas["StopResult"]>;
  /** Answers a park of any thread. */
  respond(request: Schemas["OperatorRespondRequest"], options?: CallOptions): Promise<Schemas["RespondResult"]>;
  /** The jobs of the queue: those that wait, are worked on, or are dead. */
  jobs(query?: Query<"JobsQuery">): Promise<JobList>;
  /** Starts a dead job again, or all of them. */
  redrive(request: Schemas["RedriveRequest"], options?: CallOptions): Promise<RedriveAnswer>;
  /** Forgets a dead job, or all of them. */
  purge(request: Schemas["PurgeRequest"], options?: CallOptions): Promise<PurgeAnswer>;
  /** Deletes old threads. */
  prune(request: Schemas["PruneRequest"], options?: CallOptions): Promise<PruneAnswer>;
  /** Who did what. */
  audit(query?: Query<"AuditQuery">): Promise<AuditList>;
  revisions(query?: Query<"RevisionsQuery">): Promise<RevisionList>;
  revision(revision: string, options?: CallOptions): Promise<Revision>;
}

/**
 * Returns the operations of operators, with the credentials of a client.
 *
 * ```ts
 * const { runs } = await createAdmin(client).runs({ state: "FAILED" });
 * ```
 */
export function createAdmin(client: Client): Admin {
  const get = <T>(path: string, { signal, ...query }: CallOptions & object = {}) =>
    client.request<T>(
      "GET",
      withQuery(`/api/admin/${path}`, query as Record<string, string>),
      undefined,
      withSignal(signal),
    );
  const post = <T>(path: string, body: unknown, { signal }: CallOptions = {}) =>
    client.request<T>("POST", `/api/admin/${path}`, body, withSignal(signal));

  return {
    overview: (query) => get("overview", query),
    runs: (query) => get("runs", query),
    run: (runId, query) => get(`runs/${encodeURIComponent(runId)}`, query),
    stop: (request, options) => post("stop", request, options),
    respond: (request, options) => post("respond", request, options),
    jobs: (query) => get("jobs", query),
    redrive: (request, options) => post("jobs/redrive", request, options),
    purge: (request, options) => post("jobs/purge", request, options),
    prune: (request, options) => post("prune", request, options),
    audit: (query) => get("audit", query),
    revisions: (query) => get("revisions", query),
    revision: (revision, options) => get(`revisions/${encodeURIComponent(revision)}`, { ...options }),
  };
}

const withSignal = (signal: AbortSignal | undefined): CallOptions => (signal ? { signal } : {});

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// OfTenant returns a client whose operations below /api/admin are about another tenant than the caller's own. Only an
// operator may use them. The other operations stay those of the caller.
func (c *Client) OfTenant(tenant spool.Tenant) *Client {
	other := *c
	other.tenant = tenant
	return &other
}

// admin returns a request of an operator that reads, of the client's tenant.
func (c *Client) admin(path string, pairs ...string) request {
	return get("/api/admin/"+path, append(pairs, "tenant", string(c.tenant))...)
}

// RunDetail returns everything about a run: its steps, calls, questions, entries, and why it ended. It needs the scope
// admin. It returns a [spool.NotFound] error for a run that does not exist.
func (c *Client) RunDetail(ctx context.Context, run spool.RunID) (wire.RunDetail, error) {
	return do[wire.RunDetail](ctx, c, c.admin("runs/"+url.PathEscape(string(run))))
}

// Target is what an operator acts on: a run, or the present run of a thread. Exactly one of the two is set.
type Target struct {
	RunID    spool.RunID    `json:"runId,omitempty"`
	ThreadID spool.ThreadID `json:"threadId,omitempty"`
}

// operatorBody is the body of an operator's action on a target.
type operatorBody struct {
	Target

	Tenant spool.Tenant `json:"tenant,omitempty"`
}

// OperatorStop stops any run of a tenant, or the present run of a thread and the runs that wait for it.
func (c *Client) OperatorStop(ctx context.Context, at Target) (wire.StopResult, error) {
	return do[wire.StopResult](ctx, c, post("/api/admin/stop", operatorBody{at, c.tenant}))
}

// OperatorRespond answers a park of any run of a tenant.
func (c *Client) OperatorRespond(ctx context.Context, at Target, in RespondRequest) (wire.RespondResult, error) {
	return do[wire.RespondResult](ctx, c, post("/api/admin/respond", struct {
		operatorBody
		RespondRequest
	}{operatorBody{at, c.tenant}, in}))
}

// Job is a job of the queue, as operators see it.
type Job struct {
	// JobID rises with time.
	JobID int64 `json:"jobId"`
	// State is dead, ready, delayed or inflight.
	State    string         `json:"state"`
	ThreadID spool.ThreadID `json:"threadId"`
	RunID    spool.RunID    `json:"runId"`
	Agent    string         `json:"agent"`
	Model    string         `json:"model"`
	Kind     wire.JobKind   `json:"kind"`
	// Segment is the segment that the job is for. Zero: any.
	Segment int `json:"segment"`
	// Attempts counts the deliveries that counted.
	Attempts int `json:"attempts"`
	// DueAt is zero for jobs in flight and dead jobs, and FirstDueAt for dead jobs.
	DueAt      time.Time `json:"dueAt"`
	FirstDueAt time.Time `json:"firstDueAt"`
	// LockedUntil is when another worker may claim a job in flight, unless its worker reports.
	LockedUntil time.Time `json:"lockedUntil"`
	// Cause and DiedAt say why and when a dead job died.
	Cause  string    `json:"cause"`
	DiedAt time.Time `json:"diedAt"`
}

// JobFilter selects jobs of a list.
type JobFilter struct {
	// OlderThan is how long stuck jobs have been due at least. Defaults to 15 min.
	OlderThan time.Duration
	// PageSize is how many jobs one request reads, from 1 to 1000. Defaults to 100.
	PageSize int
	// State is dead, stuck, ready, delayed or inflight. Empty: all states except dead.
	State string
}

// Jobs lists the jobs of the tenant: the dead ones with the last that died first, others with the one that has been due
// longest first, of which it lists at most PageSize. It needs the scope admin. An error ends the list.
func (c *Client) Jobs(ctx context.Context, f JobFilter) iter.Seq2[Job, error] {
	older := ""
	if f.OlderThan != 0 {
		older = f.OlderThan.String()
	}
	return pages(func(page string) ([]Job, string, error) {
		list, err := do[struct {
			Jobs []Job  `json:"jobs"`
			Next string `json:"next"`
		}](ctx, c, c.admin("jobs", "state", f.State, "olderThan", older, "limit", number(pageSize(f.PageSize)), "before",
			page))
		return list.Jobs, list.Next, err
	})
}

// Redrive restarts the work of a dead job. A refusal is a result with a reason, such as [wire.ReasonNotFound]. It needs
// the scope admin.
func (c *Client) Redrive(ctx context.Context, job int64) (wire.RedriveResult, error) {
	q := post("/api/admin/jobs/redrive", struct {
		Tenant spool.Tenant `json:"tenant,omitempty"`
		JobID  int64        `json:"jobId"`
	}{c.tenant, job})
	q.refusals = append(q.refusals, http.StatusNotFound)
	answer, err := do[struct {
		Results []wire.RedriveResult `json:"results"`
	}](ctx, c, q)
	switch {
	case err != nil:
		return wire.RedriveResult{}, err
	case len(answer.Results) != 1:
		return wire.RedriveResult{}, spool.Errorf(spool.Internal, "the answer is not that of a Spool server")
	}
	return answer.Results[0], nil
}

// Purge forgets a dead job. Its run stays as it is. It reports whether there was such a job. It needs the scope admin.
func (c *Client) Purge(ctx context.Context, job int64) (bool, error) {
	n, err := c.purge(ctx, struct {
		Tenant spool.Tenant `json:"tenant,omitempty"`
		JobID  int64        `json:"jobId"`
	}{c.tenant, job})
	return n > 0, err
}

// PurgeAll forgets all jobs that have been dead for a time, and returns how many there were. It needs the scope admin.
func (c *Client) PurgeAll(ctx context.Context, olderThan time.Duration) (int, error) {
	return c.purge(ctx, struct {
		Tenant    spool.Tenant `json:"tenant,omitempty"`
		All       bool         `json:"all"`
		OlderThan string       `json:"olderThan"`
	}{c.tenant, true, olderThan.String()})
}

func (c *Client) purge(ctx context.Context, body any) (int, error) {
	answer, err := do[struct {
		Purged int `json:"purged"`
	}](ctx, c, post("/api/admin/jobs/purge", body))
	return answer.Purged, err
}

// PruneRequest selects inactive threads.
type PruneRequest struct {
	// OlderThan is how long nothing must have happened in a thread. Required.
	OlderThan time.Duration
	// DryRun lists the threads, and deletes none.
	DryRun bool
	// Limit bounds how many are deleted, up to 1000. Defaults to 1000.
	Limit int
}

// Pruned has the threads that a prune has deleted, or would delete.
type Pruned struct {
	ThreadIDs []spool.ThreadID `json:"threadIds"`
	// More says that the limit was reached, so that there may be more threads.
	More bool `json:"more"`
}

// Prune deletes inactive threads of the tenant, the one that has been idle longest first. It needs the scope admin.
func (c *Client) Prune(ctx context.Context, in PruneRequest) (Pruned, error) {
	return do[Pruned](ctx, c, post("/api/admin/prune", struct {
		Tenant    spool.Tenant `json:"tenant,omitempty"`
		OlderThan string       `json:"olderThan"`
		DryRun    bool         `json:"dryRun,omitempty"`
		Limit     int          `json:"limit,omitempty"`
	}{c.tenant, in.OlderThan.String(), in.DryRun, in.Limit}))
}

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	wire.AuditEntry

	// Operator says that an operator of the server acted.
	Operator bool `json:"operator"`
}

// AuditFilter selects entries of the audit log. An entry must pass all fields.
type AuditFilter struct {
	// Action leaves out other actions. Empty: all.
	Action wire.AuditAction
	// By leaves out what other subjects did. Empty: all.
	By string
	// PageSize is how many entries one request reads, from 1 to 1000. Defaults to 100.
	PageSize int
	// Server lists what belongs to no tenant, such as refused credentials. Only for an operator.
	Server bool
	// Since and Until leave out entries outside of these times. Zero: all.
	Since, Until time.Time
	// ThreadID leaves out entries about other threads. Empty: all.
	ThreadID spool.ThreadID
}

// Audit lists the audit log of the tenant, the last entry first. It needs the scope admin. An error ends the list.
func (c *Client) Audit(ctx context.Context, f AuditFilter) iter.Seq2[AuditEntry, error] {
	server := ""
	if f.Server {
		server = strconv.FormatBool(true)
	}
	return pages(func(page string) ([]AuditEntry, string, error) {
		list, err := do[struct {
			Entries []AuditEntry `json:"entries"`
			Next    string       `json:"next"`
		}](ctx, c, c.admin("audit", "action", string(f.Action), "by", f.By, "threadId", string(f.ThreadID), "server", server,
			"since", timeText(f.Since), "until", timeText(f.Until), "limit", number(pageSize(f.PageSize)), "before", page))
		return list.Entries, list.Next, err
	})
}

// Revisions lists the revisions of the agents as runs have used them: by the agents' names, and of an agent the last
// one first. An empty agent stands for all. It is for an operator. An error ends the list.
func (c *Client) Revisions(ctx context.Context, agent string) iter.Seq2[wire.RevisionSummary, error] {
	return pages(func(page string) ([]wire.RevisionSummary, string, error) {
		list, err := do[struct {
			Revisions []wire.RevisionSummary `json:"revisions"`
			Next      string                 `json:"next"`
		}](ctx, c, get("/api/admin/revisions", "agent", agent, "limit", number(defaultPageSize), "before", page))
		return list.Revisions, list.Next, err
	})
}

// Revision returns a revision of an agent: its instructions, model and tools. It is for an operator. It returns a
// [spool.NotFound] error for a revision that no run has used.
func (c *Client) Revision(ctx context.Context, id wire.RevisionID) (wire.Revision, error) {
	return do[wire.Revision](ctx, c, get("/api/admin/revisions/"+url.PathEscape(string(id))))
}

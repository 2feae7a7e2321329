package admin

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// OverviewInput asks for the overview of a tenant.
type OverviewInput struct{ oneTenant }

// Overview answers with the numbers of a tenant's threads, runs and jobs, what its runs have used, and the runs that
// are not over. The server keeps these sums up to date and does not count on request: a request costs the same for any
// amount of data.
func (c Controller) Overview(ctx context.Context, in OverviewInput) (wire.Overview, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return wire.Overview{}, err
	}
	o, err := c.Engine.Overview(ctx, tenant)
	return o, aboutTenant(ctx, err, tenant)
}

// RunsInput asks for a page of a tenant's runs.
type RunsInput struct {
	oneTenant
	runFilter

	Limit  int    `default:"50"   maximum:"1000" minimum:"1" query:"limit"` // The size of a page.
	Before string `query:"before"`                                          // The field next of the page before.
}

// runFilter selects runs of a list. A run must pass all fields.
type runFilter struct {
	// Only runs of this thread.
	ThreadID spool.ThreadID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"threadId"`
	// Only runs in this state.
	State wire.State `enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" query:"state"`
	// Only runs with questions that nobody answered.
	Expired bool `query:"expired"`
	// Only runs that ended for this reason.
	StopReason wire.StopReason `maxLength:"64" query:"stopReason"`
	// Only runs of this agent.
	Agent string `maxLength:"128" query:"agent"`
	// Only runs with this model.
	Model string `maxLength:"128" query:"model"`
	// Only runs of this depth. 0: runs that are not nested.
	Depth *int `maximum:"100" minimum:"0" query:"depth"`
	// Only runs that were accepted after this time.
	CreatedAfter time.Time `example:"2026-01-02T03:04:05Z" query:"createdAfter"`
	// Only runs that were accepted before this time.
	CreatedBefore time.Time `example:"2026-01-02T03:04:05Z" query:"createdBefore"`
}

// RunList is the answer to a list of runs.
type RunList struct {
	Runs []wire.Run `json:"runs"` // The runs, the last accepted one first.
	// Next is the value of before for the next page. Left out: this is the last page.
	Next string `json:"next,omitempty"`
}

// Runs answers with a tenant's runs across its threads, the last accepted run first. The parameter before gets the next
// page. A run must pass all filters; use the same filters for the next page. Runs that are accepted in the meantime
// belong before the first page. A state, a thread or a time is looked up in an index. With another filter alone, the
// server reads on until the page is full.
func (c Controller) Runs(ctx context.Context, in RunsInput) (RunList, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return RunList{}, err
	}
	q := wire.RunQuery{
		ThreadID: in.ThreadID, State: in.State, Expired: in.Expired, StopReason: in.StopReason, Agent: in.Agent,
		Model: in.Model, Depth: in.Depth, CreatedAfter: in.CreatedAfter, CreatedBefore: in.CreatedBefore, Limit: in.Limit,
	}
	if in.Before != "" {
		var id string
		if q.Before, id, err = call.ParseTimeMark(in.Before); err != nil {
			return RunList{}, err
		}
		q.BeforeID = spool.RunID(id)
	}
	list, err := c.Engine.Runs(ctx, tenant, q)
	if err != nil {
		return RunList{}, aboutTenant(ctx, err, tenant)
	}
	out := RunList{Runs: list}
	if len(list) == q.Limit { // new runs belong before the first page, so no page repeats or skips a run
		last := list[len(list)-1]
		out.Next = call.TimeMark(last.CreatedAt, string(last.ID))
	}
	return out, nil
}

// OneRunInput asks for one run.
type OneRunInput struct {
	oneTenant

	RunID spool.RunID `example:"r1" path:"runId"` // The run.
}

// Run answers with everything about one run: its steps with their usage and calls, the runs that it spawned, its
// entries of the record, its waits for an answer, and each request to a model. No list has more than 1000 elements.
func (c Controller) Run(ctx context.Context, in OneRunInput) (wire.RunDetail, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return wire.RunDetail{}, err
	}
	d, err := c.Engine.RunDetail(ctx, tenant, in.RunID)
	return d, call.About(ctx, err, spool.ThreadKey{Tenant: tenant}, in.RunID)
}

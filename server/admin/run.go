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

// Overview answers GET /api/admin/overview.
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

	Limit  int    `default:"50"                             doc:"The size of a page." maximum:"1000" minimum:"1" query:"limit"`
	Before string `doc:"The field next of the page before." query:"before"`
}

// runFilter selects runs of a list. A run must pass all fields.
type runFilter struct {
	ThreadID      spool.ThreadID  `doc:"Only runs of this thread."                             maxLength:"128"                                                    pattern:"^[A-Za-z0-9._:-]+$" query:"threadId"`
	State         wire.State      `doc:"Only runs in this state."                              enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" query:"state"`
	Expired       bool            `doc:"Only runs with questions that nobody answered."        query:"expired"`
	StopReason    wire.StopReason `doc:"Only runs that ended for this reason."                 maxLength:"64"                                                     query:"stopReason"`
	Agent         string          `doc:"Only runs of this agent."                              maxLength:"128"                                                    query:"agent"`
	Model         string          `doc:"Only runs with this model."                            maxLength:"128"                                                    query:"model"`
	Depth         *int            `doc:"Only runs of this depth. 0: runs that are not nested." maximum:"100"                                                      minimum:"0"                  query:"depth"`
	CreatedAfter  time.Time       `doc:"Only runs that were accepted after this time."         example:"2026-01-02T03:04:05Z"                                     query:"createdAfter"`
	CreatedBefore time.Time       `doc:"Only runs that were accepted before this time."        example:"2026-01-02T03:04:05Z"                                     query:"createdBefore"`
}

// RunList is the answer to a list of runs.
type RunList struct {
	Runs []wire.Run `doc:"The runs, the last accepted one first." json:"runs"`
	// Next is the before parameter of the next page. Empty: there is none.
	Next string `doc:"The value of before for the next page. Left out: this is the last page." json:"next,omitempty"`
}

// Runs answers GET /api/admin/runs with a page of the tenant's runs, the last accepted one first. Runs that
// are accepted in the meantime belong before the first page, so no page repeats or skips a run.
func (c Controller) Runs(ctx context.Context, in RunsInput) (RunList, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return RunList{}, err
	}
	q := wire.RunQuery{
		ThreadID: in.ThreadID, State: in.State, Expired: in.Expired, StopReason: in.StopReason, Agent: in.Agent, Model: in.Model, Depth: in.Depth,
		CreatedAfter: in.CreatedAfter, CreatedBefore: in.CreatedBefore, Limit: in.Limit,
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
	if len(list) == q.Limit {
		last := list[len(list)-1]
		out.Next = call.TimeMark(last.CreatedAt, string(last.ID))
	}
	return out, nil
}

// OneRunInput asks for one run.
type OneRunInput struct {
	oneTenant

	RunID spool.RunID `doc:"The run." example:"r1" path:"runId"`
}

// Run answers GET /api/admin/runs/{runId} with everything about a run.
func (c Controller) Run(ctx context.Context, in OneRunInput) (wire.RunDetail, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return wire.RunDetail{}, err
	}
	d, err := c.Engine.RunDetail(ctx, tenant, in.RunID)
	return d, call.About(ctx, err, spool.ThreadKey{Tenant: tenant}, in.RunID)
}

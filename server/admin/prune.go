package admin

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/internal/call"
)

// PruneRequest is the body of a prune.
type PruneRequest struct {
	Tenant    spool.Tenant `doc:"The tenant. Only an operator may name another than its own, which is the default." json:"tenant,omitempty"`
	OlderThan string       `doc:"How long nothing must have happened in a thread."                                  example:"720h"          json:"olderThan"`
	DryRun    bool         `doc:"Whether to tell what would go, and to remove nothing."                             json:"dryRun,omitempty"`
	Limit     int          `doc:"How many threads may go, up to 1000, which is the default."                        json:"limit,omitempty"`

	olderThan time.Duration
}

// Validate implements [rest.Validator].
func (in *PruneRequest) Validate(context.Context) (err error) {
	if in.OlderThan == "" {
		return spool.Errorf(spool.Invalid, "olderThan is required")
	}
	if in.olderThan, err = parseAge("olderThan", in.OlderThan); err != nil {
		return err
	}
	if in.Limit < 0 || in.Limit > 1000 {
		return spool.Errorf(spool.Invalid, "limit must be an integer from 1 to 1000")
	}
	return call.CheckOptionalID("tenant", string(in.Tenant))
}

// PruneAnswer says which threads went, or would go.
type PruneAnswer struct {
	DryRun    bool             `doc:"Whether nothing was removed."                                          json:"dryRun"`
	Threads   int              `doc:"How many threads went, or would go."                                   json:"threads"`
	ThreadIDs []spool.ThreadID `doc:"Which those are, the one in which nothing has happened longest first." json:"threadIds"`
	More      bool             `doc:"Whether the limit was reached, so that there may be others."           json:"more"`
}

// Prune answers POST /api/admin/prune.
func (c Controller) Prune(ctx context.Context, in PruneRequest) (PruneAnswer, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return PruneAnswer{}, err
	}
	report, err := c.Engine.Prune(call.Acting(ctx), engine.PruneOptions{
		Before: time.Now().Add(-in.olderThan), Tenant: tenant, Limit: in.Limit, DryRun: in.DryRun,
	})
	out := PruneAnswer{DryRun: in.DryRun, Threads: len(report.Threads), ThreadIDs: []spool.ThreadID{}, More: report.More}
	for _, key := range report.Threads {
		out.ThreadIDs = append(out.ThreadIDs, key.ID)
	}
	return out, aboutTenant(ctx, err, tenant)
}

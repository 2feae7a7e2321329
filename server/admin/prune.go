package admin

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// PruneRequest is the body of a prune.
type PruneRequest struct {
	// Tenant is the tenant. Defaults to the caller's own; only an operator may name another one.
	Tenant    spool.Tenant `json:"tenant,omitempty"`
	OlderThan string       `example:"720h"          json:"olderThan"` // How long nothing must have happened in a thread.
	// DryRun is true lists the threads that would be deleted, and deletes nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// Limit is the maximum number of threads to delete, up to 1000, which is the default.
	Limit int `json:"limit,omitempty"`

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

// PruneAnswer has the threads that were deleted, or would be.
type PruneAnswer struct {
	DryRun  bool `json:"dryRun"`  // Whether this was a dry run, which deletes nothing.
	Threads int  `json:"threads"` // The number of threads that were deleted, or would be.
	// ThreadIDs are the ids of the threads, the one that has been idle longest first.
	ThreadIDs []spool.ThreadID `json:"threadIds"`
	More      bool             `json:"more"` // Whether the limit was reached. Then there may be more threads.
}

// Prune deletes threads in which nothing has happened for a while, each with everything that belongs to it. A thread
// stays if it has a run that is not over, a worker or a job, or if it becomes active in the meantime. With dryRun,
// nothing is deleted.
func (c Controller) Prune(ctx context.Context, in PruneRequest) (PruneAnswer, error) {
	tenant, err := c.tenant(ctx, in.Tenant)
	if err != nil {
		return PruneAnswer{}, err
	}
	report, err := c.Engine.Prune(call.Acting(ctx), wire.PruneOptions{
		Before: time.Now().Add(-in.olderThan), Tenant: tenant, Limit: in.Limit, DryRun: in.DryRun,
	})
	out := PruneAnswer{DryRun: in.DryRun, Threads: len(report.Threads), ThreadIDs: []spool.ThreadID{}, More: report.More}
	for _, key := range report.Threads {
		out.ThreadIDs = append(out.ThreadIDs, key.ID)
	}
	return out, aboutTenant(ctx, err, tenant)
}

package client

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Overview counts what the caller's tenant stores and runs. It is for operators, and needs the scope admin.
func (c *Client) Overview(ctx context.Context) (wire.Overview, error) {
	return do[wire.Overview](ctx, c, c.admin("overview"))
}

// RunFilter selects runs of a list. A run must pass all fields.
type RunFilter struct {
	// Agent and Model leave out the runs of others. Empty: all.
	Agent, Model string
	// CreatedAfter and CreatedBefore leave out runs that were accepted outside of these times. Zero: all.
	CreatedAfter, CreatedBefore time.Time
	// Expired leaves out runs without a question that nobody answered in time.
	Expired bool
	// PageSize is how many runs one request reads, from 1 to 1000. Defaults to 100.
	PageSize int
	// State leaves out runs in other states. Empty: all.
	State wire.State
	// StopReason leaves out runs that ended for another reason, or have not ended. Empty: all.
	StopReason wire.StopReason
	// ThreadID leaves out the runs of other threads. Empty: all.
	ThreadID spool.ThreadID
	// TopLevel leaves out nested runs.
	TopLevel bool
}

// Runs lists the runs of the caller's tenant, including nested ones, the last accepted one first. Runs that
// are accepted meanwhile do not appear. It is for operators, and needs the scope admin. An error ends the list.
func (c *Client) Runs(ctx context.Context, f RunFilter) iter.Seq2[wire.Run, error] {
	depth, expired := "", ""
	if f.TopLevel {
		depth = "0"
	}
	if f.Expired {
		expired = "true"
	}
	return pages(func(page string) ([]wire.Run, string, error) {
		list, err := do[struct {
			Runs []wire.Run `json:"runs"`
			Next string     `json:"next"`
		}](ctx, c, c.admin("runs", "limit", number(pageSize(f.PageSize)), "before", page, "threadId", string(f.ThreadID),
			"state", string(f.State), "stopReason", string(f.StopReason), "expired", expired, "agent", f.Agent, "model", f.Model,
			"depth", depth,
			"createdAfter", timeText(f.CreatedAfter), "createdBefore", timeText(f.CreatedBefore)))
		return list.Runs, list.Next, err
	})
}

// Healthy reports whether the server is up: nil, or why it cannot be reached. It needs no credentials, and is not
// repeated after a failure. A server that is up may not be ready: see [Client.Ready].
func (c *Client) Healthy(ctx context.Context) error {
	q := get("/healthz")
	q.repeatable = false
	_, err := do[struct{}](ctx, c, q)
	return err
}

// Ready reports whether the server takes requests: nil, or an [spool.Unavailable] error with the checks that
// fail. It needs no credentials, and is not repeated after a failure.
func (c *Client) Ready(ctx context.Context) error {
	q := get("/readyz")
	q.repeatable = false
	_, err := do[struct{}](ctx, c, q)
	return err
}

// Package segment executes the runs of jobs: it claims a run, keeps its lease, notices its stop, and settles it or
// hands it back. Package loop does the work in between, and package active draws the rooms.
package segment

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/loop"
	"github.com/spoolhq/spool/engine/internal/revision"
	"github.com/spoolhq/spool/engine/internal/settle"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/toollist"
	"github.com/spoolhq/spool/wire"
)

// Host has the dependencies of a runner.
type Host struct {
	active.Host

	Models    loop.Models
	Streaming stream.Settings
	Revisions *revision.Revisions
	ToolLists *toollist.Lists
	// OnSettle is called for each run before its end state is written. Nil: no hook.
	OnSettle func(ctx context.Context, s wire.Settlement) error

	StopPoll time.Duration
}

// Runner executes runs in one process.
type Runner struct {
	Host

	hook           settle.Hook
	poller         calls.Poller
	activeSegments atomic.Int64
	isolationSlot  isolationSlot
	// leftOut has the tools that the last warning named, by the names of the agents.
	leftOut sync.Map
}

func New(h Host) *Runner {
	r := &Runner{Host: h, hook: settle.Hook{Store: h.Store, Log: h.Log, Settle: h.OnSettle}}
	r.poller = calls.Poller{Host: &r.Host.Host, Reopen: r.reopen}
	return r
}

func (r *Runner) ActiveSegments() int64 { return r.activeSegments.Load() }

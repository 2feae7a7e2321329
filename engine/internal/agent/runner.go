// Package agent carries runs: a worker's segment of a run, the steps of its agent, the model and tool
// calls of a step, and nested runs. A [Runner] claims a run for a job and carries it until it ends,
// parks, or cannot go on. It calls the transitions of package thread, and acts on what they return.
package agent

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/settle"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/telemetry"
)

// Host is what a runner works with.
type Host struct {
	*change.Threads

	Queue       spool.Queue
	Streaming   stream.Settings
	Registry    *registry.Registry
	Telemetry   *telemetry.Recorder
	Attachments *attach.Images
	Compactor   *compact.Compactor
	Chat        *chat.Client
	Publisher   *publish.Publisher
	// OnSettle is called for each run before its end state is written. Nil: nothing is.
	OnSettle func(ctx context.Context, s spool.Settlement) error

	Budget   config.BudgetOptions
	Limits   config.LimitOptions
	StopPoll time.Duration
}

// Runner carries runs in one process.
type Runner struct {
	Host

	hook      settle.Hook
	carrying  atomic.Int64
	aloneSlot aloneSlot
}

// New returns a runner.
func New(h Host) *Runner {
	return &Runner{Host: h, hook: settle.Hook{Store: h.Store, Log: h.Log, Settle: h.OnSettle}}
}

// Carrying returns how many segments the runner carries forward.
func (r *Runner) Carrying() int64 { return r.carrying.Load() }

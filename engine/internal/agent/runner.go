// Package agent carries runs: a worker's segment of a run, the steps of its agent, the model and tool
// calls of a step, and nested runs. A [Runner] claims a run for a job and carries it until it ends,
// parks, or cannot go on. It calls the transitions of package thread, and acts on what they return.
package agent

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
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
	Limits      history.Limits
	Pricer      spool.Pricer
	// OnSettle is called for each run before its end state is written. Nil: nothing is.
	OnSettle func(ctx context.Context, s spool.Settlement) error

	// The other settings are those of the engine's configuration.
	Budget, MaxBudget            spool.Budget
	CompactionModel              string
	MaxAnswerBytes, MaxStepBytes int
	MaxAttempts                  int
	MaxTenantBytes               int64
	MaxWallTime                  time.Duration
	StopPoll                     time.Duration
}

// Runner carries runs in one process.
type Runner struct {
	Host

	chat       *chat.Client
	carried    carried
	carrying   atomic.Int64
	compacting compacting
	aloneSlot  aloneSlot
}

// New returns a runner.
func New(h Host) *Runner {
	return &Runner{Host: h, chat: &chat.Client{
		Telemetry: h.Telemetry, Pricer: h.Pricer, Log: h.Log, Random: h.Rules.Random, MaxAnswerBytes: h.MaxAnswerBytes,
	}}
}

// Carrying returns how many segments the runner carries forward.
func (r *Runner) Carrying() int64 { return r.carrying.Load() }

// newSummary returns what makes a summary for the prompts of a model with that room. Name is that
// model's, unless the configuration has another one for summaries.
func (r *Runner) newSummary(name string, model spool.Model, m history.Meter, to history.Room, row spool.UsageRow) *chat.Summary {
	if r.CompactionModel != "" {
		name = r.CompactionModel
		model = r.Registry.Models[name]
	}
	return r.chat.NewSummary(name, model, r.Limits, m, to, row)
}

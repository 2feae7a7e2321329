package config

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
)

// LimitOptions bound what clients, models and tenants may do.
type LimitOptions struct {
	// AnswerBytes bounds an answer of a model: its text, its reasoning and its calls. A call counts
	// as the bytes of its arguments and 4 KiB. The engine cuts a longer answer, runs none of its
	// calls, and ends the run with [spool.StopLength]. Defaults to 4 MiB, or to StepBytes if that is
	// less.
	AnswerBytes int
	// StepBytes bounds a step: an answer and the results of its calls. If a result has no room, the
	// model reads its length instead. Defaults to 8 MiB, or to AnswerBytes if that is more.
	StepBytes int
	// PromptBytes bounds the prompt of a start. Defaults to 262,144.
	PromptBytes int
	// QueueDepth bounds the ready jobs of all tenants: beyond it, starts are refused. A process reads
	// their number four times a second and adds its own starts. The starts that other processes
	// accept between two reads may exceed the limit. Zero: no bound.
	QueueDepth int
	// TenantDepth bounds the ready jobs of one tenant in the same way. Zero: no bound.
	TenantDepth int
	// TenantBytes bounds what a tenant stores, as [spool.Tally] counts it. Beyond it, starts,
	// durable events, summaries on demand and redrives are refused with [spool.StorageFull].
	// Answers and stops are not. An active run ends with [spool.StopStorageLimit] in place of its
	// next step. Steps and starts at the same time may exceed the limit. Deleting threads makes room.
	// Zero: no bound.
	TenantBytes int64
	// Waiting bounds how many runs wait for a thread that another run has. Defaults to 16.
	Waiting int
	// WallTime bounds how long workers carry a run. The time in which it waits for an answer,
	// a worker or the next attempt does not count. A run that reaches it ends as COMPLETED with
	// [spool.StopTimeLimit]; what it wrote is kept. It holds for every run, and nobody can raise
	// it while the run goes on. Negative: no bound. Defaults to an hour, or to the longest WallTime
	// of the budgets Default and Max and of the run's agent, if that is longer.
	WallTime time.Duration
}

const (
	defaultAnswerBytes = 4 << 20
	defaultStepBytes   = 8 << 20
)

func (o *LimitOptions) fill() error {
	answer := min(defaultAnswerBytes, cmp.Or(max(o.StepBytes, 0), defaultAnswerBytes))
	if err := cmp.Or(
		or("Limits.AnswerBytes", &o.AnswerBytes, answer),
		or("Limits.StepBytes", &o.StepBytes, max(defaultStepBytes, o.AnswerBytes)),
		or("Limits.PromptBytes", &o.PromptBytes, 256<<10),
		or("Limits.QueueDepth", &o.QueueDepth, 0),
		or("Limits.TenantDepth", &o.TenantDepth, 0),
		or("Limits.TenantBytes", &o.TenantBytes, 0),
		or("Limits.Waiting", &o.Waiting, 16),
	); err != nil {
		return err
	}
	if o.StepBytes < o.AnswerBytes {
		return spool.Errorf(spool.Invalid, "Config.Limits.StepBytes is less than AnswerBytes")
	}
	return nil
}

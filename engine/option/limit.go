package option

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
)

// Limits bound what clients, models and tenants may do.
type Limits struct {
	// AnswerBytes bounds the size of a model's answer: its text, its reasoning and its calls. A call
	// counts the bytes of its arguments plus 4 KiB. The engine cuts a longer answer, runs none of its
	// calls, and ends the run with [wire.StopLength]. Defaults to 4 MiB, or to StepBytes if StepBytes
	// is less.
	AnswerBytes int
	// FileBytes bounds the size of a file that the engine keeps in its own store, because [engine.Config.Artifacts] is
	// nil. Negative: it keeps none. Defaults to 4 MiB.
	FileBytes int64
	// ThreadFileBytes bounds the size of all such files of a thread together. Defaults to 32 MiB.
	ThreadFileBytes int64
	// ThreadFiles bounds the number of such files of a thread. Defaults to 64.
	ThreadFiles int
	// StepBytes bounds the size of a step: an answer and the results of its calls. If a result does not
	// fit, the model reads its length instead. Defaults to 8 MiB, or to AnswerBytes if AnswerBytes is
	// more.
	StepBytes int
	// ResultBytes bounds the size of a tool's result in a message, if [engine.Config.Artifacts] is set. A longer
	// result is saved as an artifact, and the message has the artifact and the beginning of the result. Defaults
	// to 64 KiB.
	ResultBytes int
	// PromptBytes bounds the size of a start's prompt. Defaults to 262,144.
	PromptBytes int
	// QueueDepth bounds the ready jobs of all tenants together, of all queues, that need an agent: see
	// [wire.Job.NeedsAgent]. Beyond the limit, starts are refused. A process reads the number of these jobs four times a
	// second and adds its own starts. Starts that other processes accept between two reads may exceed the limit. Zero:
	// no bound.
	QueueDepth int
	// TenantDepth bounds the ready jobs of one tenant in the same way. Zero: no bound.
	TenantDepth int
	// TenantBytes bounds what a tenant stores, as counted in [wire.Tally]. Beyond the limit, starts,
	// durable events, summaries on demand and redrives are refused with [spool.StorageFull]; answers
	// and stops are not. An active run ends with [wire.StopStorageLimit] instead of taking its next
	// step. Concurrent steps and starts may exceed the limit. Deleting threads makes room. Zero: no
	// bound.
	TenantBytes int64
	// Waiting bounds how many runs wait for a thread with an active run. Defaults to 16.
	Waiting int
	// WallTime bounds the time in which workers execute a run. Time spent waiting for an answer, a
	// worker or the next attempt does not count. A run that reaches the limit ends as COMPLETED with
	// [wire.StopTimeLimit] and keeps its output. WallTime applies to every run and cannot be raised
	// for a run. Negative: no bound. Defaults to the longest of an hour, the WallTime of the budgets
	// Default and Max, and the WallTime of the run's agent.
	WallTime time.Duration
}

const (
	defaultAnswerBytes = 4 << 20
	defaultStepBytes   = 8 << 20
)

func (o *Limits) fill() error {
	answer := min(defaultAnswerBytes, cmp.Or(max(o.StepBytes, 0), defaultAnswerBytes))
	if err := cmp.Or(
		or("Limits.AnswerBytes", &o.AnswerBytes, answer),
		or("Limits.StepBytes", &o.StepBytes, max(defaultStepBytes, o.AnswerBytes)),
		or("Limits.ResultBytes", &o.ResultBytes, 64<<10),
		or("Limits.PromptBytes", &o.PromptBytes, 256<<10),
		or("Limits.QueueDepth", &o.QueueDepth, 0),
		or("Limits.TenantDepth", &o.TenantDepth, 0),
		or("Limits.TenantBytes", &o.TenantBytes, 0),
		or("Limits.ThreadFileBytes", &o.ThreadFileBytes, 32<<20),
		or("Limits.ThreadFiles", &o.ThreadFiles, 64),
		or("Limits.Waiting", &o.Waiting, 16),
	); err != nil {
		return err
	}
	o.FileBytes = cmp.Or(o.FileBytes, 4<<20)
	if o.StepBytes < o.AnswerBytes {
		return spool.Errorf(spool.Invalid, "Config.Limits.StepBytes is less than AnswerBytes")
	}
	return nil
}

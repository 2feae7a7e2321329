package config

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
)

// BudgetOptions say which budgets runs have.
type BudgetOptions struct {
	// Default bounds a run, with all runs under it, if neither its start nor its agent does. A budget
	// of cost needs a Pricer. Defaults to no bounds.
	Default spool.Budget
	// Max bounds the budgets of starts, and is the budget of runs that have none. A start that asks
	// for more gets Max. No answer can raise the budget of a run beyond it, whoever gives the answer.
	// A run that has used up Max ends, and does not wait for more. Defaults to no bounds.
	Max spool.Budget
	// OnBudget is what happens to a run whose budget is used up, if its agent does not say.
	// Defaults to [spool.BudgetEnd].
	OnBudget spool.BudgetAction
}

// RetryOptions say how often failed steps are tried again, and when.
type RetryOptions struct {
	// AfterMax bounds the wait that a provider asks for by Retry-After, or a model or hook by
	// [spool.RetryAfter]. Such a wait counts if it is longer than that of Backoff, and is cut to
	// AfterMax, but never below that of Backoff. RUN_ENDED and RUN_ERROR have it as retryAfterMs.
	// Defaults to 15 min.
	AfterMax time.Duration
	// Attempts is how many times in a row a step may fail for a reason that may pass,
	// before the run fails. Defaults to 3.
	Attempts int
	// Backoff is the wait before the second attempt. It doubles up to BackoffMax, with up to a
	// quarter more at random. They default to 5 s and 2 min.
	Backoff, BackoffMax time.Duration
	// Deaths is how many workers in a row may die while they carry a run alone, before the run fails.
	// Once three workers, or Deaths if that is less, have died in a step, workers carry the run alone:
	// after a wait, and one such run at a time. The failed run leaves a dead job, which an operator
	// can redrive. Defaults to 10.
	Deaths int
}

func (o *RetryOptions) fill() error {
	return cmp.Or(
		or("Retry.AfterMax", &o.AfterMax, 15*time.Minute),
		or("Retry.Attempts", &o.Attempts, 3),
		or("Retry.Backoff", &o.Backoff, 5*time.Second),
		or("Retry.BackoffMax", &o.BackoffMax, 2*time.Minute),
		or("Retry.Deaths", &o.Deaths, 10),
	)
}

// RetentionOptions say how long data is kept.
type RetentionOptions struct {
	// Audit is how long entries of the audit log are kept. Workers remove older ones.
	// Negative: for ever. Defaults to 400 days.
	Audit time.Duration
	// Threads is how long a thread is kept after the last thing that happened in it. Workers then
	// remove it, as a prune does. Defaults to for ever.
	Threads time.Duration
}

func (o *RetentionOptions) fill() error {
	o.Audit = cmp.Or(o.Audit, 400*24*time.Hour)
	return or("Retention.Threads", &o.Threads, 0)
}

// WorkerOptions say how long workers keep their runs, and how often they look for work.
type WorkerOptions struct {
	// Lease is how long a worker keeps a run without reporting. A worker reports every third of it.
	// Defaults to 30 s.
	Lease time.Duration
	// Poll is how often a worker looks for due jobs, and a follower of a thread for changes,
	// without being woken. Defaults to 1 s.
	Poll time.Duration
	// StopPoll is how often a worker looks for a stop of its run without being woken.
	// Defaults to 500 ms.
	StopPoll time.Duration
	// SweepEvery is how often a worker looks for runs that nothing will move. Defaults to
	// 5 s.
	SweepEvery time.Duration
}

func (o *WorkerOptions) fill() error {
	return cmp.Or(
		or("Worker.Lease", &o.Lease, 30*time.Second),
		or("Worker.Poll", &o.Poll, time.Second),
		or("Worker.StopPoll", &o.StopPoll, 500*time.Millisecond),
		or("Worker.SweepEvery", &o.SweepEvery, 5*time.Second),
	)
}

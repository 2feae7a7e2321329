package option

import (
	"cmp"
	"time"

	"github.com/spoolhq/spool"
)

// Budget say which budgets runs have.
type Budget struct {
	// Default is the budget of a run and of all runs nested in it, if neither its start nor its agent
	// has one. A budget of cost needs a Pricer. Defaults to no bounds.
	Default spool.Budget
	// Max bounds the budget that a start may ask for; a start that asks for more gets Max. Max is also
	// the budget of runs that have none. No answer can raise a run's budget beyond Max, whoever gives
	// the answer. A run that has used up Max ends and does not wait for more. Defaults to no bounds.
	Max spool.Budget
	// OnBudget says what happens to a run whose budget is used up, if its agent does not say. Defaults
	// to [spool.BudgetEnd].
	OnBudget spool.BudgetAction
	// AllowUnpriced allows a run with a budget of cost to reach a model without a price. The calls of such a
	// model do not count against the budget. Defaults to false: the engine refuses such a configuration and
	// such a start, and a run that comes to such a model later ends with [wire.StopCostBudget].
	AllowUnpriced bool
}

// Retry say how often failed steps are tried again, and when.
type Retry struct {
	// AfterMax bounds the wait that a provider asks for by Retry-After, or that a model or hook asks
	// for by [spool.RetryAfter]. The engine waits that long, at most AfterMax, but never less than
	// Backoff says. RUN_ENDED and RUN_ERROR have the wait as retryAfterMs. Defaults to 15 min.
	AfterMax time.Duration
	// Attempts is how many times in a row a step may fail with a temporary error before the run fails.
	// Defaults to 3.
	Attempts int
	// Backoff is the wait before the second attempt. The wait doubles for each further attempt, up to
	// BackoffMax, and is up to a quarter longer at random. Backoff defaults to 5 s and BackoffMax to 2
	// min.
	Backoff, BackoffMax time.Duration
	// Deaths is how many workers in a row may die while they execute a run alone, before the run fails.
	// A run becomes such a run when three workers have died in one of its steps, or Deaths workers if
	// that is less: from then on, each attempt comes after a wait, and the worker executes one such run
	// at a time. The failed run leaves a dead job, which an operator can redrive. Defaults to 10.
	Deaths int
}

func (o *Retry) fill() error {
	return cmp.Or(
		or("Retry.AfterMax", &o.AfterMax, 15*time.Minute),
		or("Retry.Attempts", &o.Attempts, 3),
		or("Retry.Backoff", &o.Backoff, 5*time.Second),
		or("Retry.BackoffMax", &o.BackoffMax, 2*time.Minute),
		or("Retry.Deaths", &o.Deaths, 10),
	)
}

// Retention say how long data is kept.
type Retention struct {
	// Audit is how long entries of the audit log are kept. Workers remove older entries. Negative: for
	// ever. Defaults to 400 days.
	Audit time.Duration
	// Threads is how long a thread is kept after its last change. Workers then remove it, as a prune
	// does. Defaults to for ever.
	Threads time.Duration
}

func (o *Retention) fill() error {
	o.Audit = cmp.Or(o.Audit, 400*24*time.Hour)
	return or("Retention.Threads", &o.Threads, 0)
}

// Worker say how long workers keep their runs, and how often they look for work.
type Worker struct {
	// Lease is how long a worker keeps a run without renewing its lease. A worker renews it every third
	// of that time. Defaults to 30 s.
	Lease time.Duration
	// Poll is how often a worker looks for due jobs, and a follower for changes of its thread, if
	// nothing wakes them. Defaults to 1 s.
	Poll time.Duration
	// StopPoll is how often a worker checks whether its run was stopped, if nothing wakes it. Defaults
	// to 500 ms.
	StopPoll time.Duration
	// SweepEvery is how often a worker looks for active runs without a worker and without a job.
	// Defaults to 5 s.
	SweepEvery time.Duration
}

func (o *Worker) fill() error {
	return cmp.Or(
		or("Worker.Lease", &o.Lease, 30*time.Second),
		or("Worker.Poll", &o.Poll, time.Second),
		or("Worker.StopPoll", &o.StopPoll, 500*time.Millisecond),
		or("Worker.SweepEvery", &o.SweepEvery, 5*time.Second),
	)
}

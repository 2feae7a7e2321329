package spool

import (
	"context"
	"time"
)

// JobResult says what became of a job.
type JobResult struct {
	// Accepted is true when the job need not come back: it was carried out, or there
	// was nothing to do.
	Accepted bool
	// Reason is why nothing was carried out, in words for a log.
	Reason string
	// RetryAfter is when the job should come back. Zero for an accepted one.
	RetryAfter time.Duration
}

// WorkOptions bound a worker.
type WorkOptions struct {
	// Concurrency is how many segments tenants run at once. The last free one is kept for a tenant
	// that has none, so that a tenant alone runs one segment less. A fourth more run beside them,
	// which only such tenants get. With 1, tenants take turns. Defaults to 16.
	Concurrency int
	// PerTenant bounds how many segments of one tenant run at once, in this worker and all
	// others of the queue. Defaults to no bound.
	PerTenant int
	// MaxDeliveries is how many times a job is delivered, refunds not counted, before it
	// is dead. A run that outlives many workers may need many; a run that kills its workers has a
	// bound of its own. Defaults to 100.
	MaxDeliveries int

	// Deliver takes each job in place of the engine, to push it to where others carry
	// it out: this worker carries out none. Its result means what the engine's does. An error
	// of the code [Invalid] gives the job up at once, any other has it delivered again.
	// It is called from several goroutines, and has to return when ctx ends; a job that it
	// returns an error for then is released without having cost an attempt. Defaults to none.
	Deliver func(ctx context.Context, d Delivery) (JobResult, error)
}

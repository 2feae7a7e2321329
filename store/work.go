package store

import (
	"context"

	"github.com/spoolhq/spool/wire"
)

// WorkOptions are the options of a worker.
type WorkOptions struct {
	// Concurrency is how many segments run at once. A tenant alone has all of them. One more and a fourth of this
	// number are added for tenants and subjects that have less than their share: an equal part of what those with
	// work have. With 1, nothing is added, and tenants and subjects take turns. Defaults to 16.
	Concurrency int
	// PerTenant bounds how many segments of one tenant run at once, in this worker and all
	// others of the queue. Defaults to no bound.
	PerTenant int
	// MaxDeliveries is how many times a job is delivered, without refunded deliveries, before it is dead. A
	// run that outlives many workers may need many deliveries. A run that kills its workers is limited
	// separately. Defaults to 100.
	MaxDeliveries int

	// Queues are the named queues that the worker claims from. The empty name is the default queue. Defaults to
	// the default queue.
	Queues []string
	// Events are the handlers of the outbox, by the name of their queue. The worker also claims from these
	// queues, which must not be among Queues. It calls a handler at least once for each event, until the
	// handler returns nil: a handler that has seen the JobID may return nil at once. After an error with the
	// code [spool.Invalid], or after MaxDeliveries, the event is dead; after any other error it comes again, with a
	// growing delay. A call takes a slot of Concurrency. A handler is called from several goroutines, and must
	// return when ctx ends. If it returns an error then, the event is released and the attempt does not count.
	// Defaults to none.
	Events map[string]func(ctx context.Context, event Delivery) error

	// Deliver gets each job of Queues instead of the engine, to push it to another process that executes it.
	// This worker then executes none, and claims the jobs of all agents. Its result has the same meaning as the engine's. After an error with the
	// code [spool.Invalid] the job is given up at once; after any other error it is delivered again. Deliver is
	// called from several goroutines, and must return when ctx ends. If it returns an error then, the job is
	// released and the attempt does not count. Defaults to none.
	Deliver func(ctx context.Context, d Delivery) (wire.JobResult, error)
}

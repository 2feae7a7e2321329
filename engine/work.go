package engine

import (
	"context"
	"sync"

	"github.com/spoolhq/spool/engine/internal/later"
	"github.com/spoolhq/spool/engine/internal/schedule"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/worker"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// WorkOptions say which jobs a worker takes, and how many.
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
	// separately. The special value -1 is no bound. Defaults to 100.
	MaxDeliveries int

	// Queues are the named queues that the worker claims from. The empty name is the default queue. No name may begin
	// with "spool.". Defaults to the default queue.
	Queues []string
	// Events are the handlers of the outbox, by the name of their queue. The worker also claims from these
	// queues, which must not be among Queues, nor begin with "spool.". It calls a handler at least once for each event,
	// until the handler returns nil: a handler that has seen the JobID may return nil at once. After an error with the
	// code [spool.Invalid], or after MaxDeliveries, the event is dead; after any other error it comes again, with a
	// growing delay. A call takes a slot of Concurrency. A handler is called from several goroutines, and must
	// return when ctx ends. If it returns an error then, the event is released and the attempt does not count.
	//
	// A handler that returns a [store.AckError] says itself what becomes of the event, also when ctx has ended. It makes
	// no event dead that the handler wants again: from the delivery number MaxDeliveries on, such deliveries do not count.
	//
	// Whoever adds due events wakes [store.EventsTopic] after the commit, so that they need not wait for the next poll.
	// Defaults to none.
	Events map[string]func(ctx context.Context, event store.Delivery) error
	// EventsOnly makes the worker one of events: it has its own slots, claims only from the queues of Events, and neither
	// executes runs nor sweeps. [Admin.CheckWorker] does not count it. Queues and Deliver must be empty. A handler that
	// adds events wakes [store.EventsTopic], too. Defaults to false.
	EventsOnly bool

	// Deliver gets each job of Queues instead of the engine, to push it to another process that executes it.
	// This worker then executes none, and claims the jobs of all agents. Its result has the same meaning as the
	// engine's. After an error with the code [spool.Invalid] the job is given up at once; after any other error it is
	// delivered again. Deliver is called from several goroutines, and must return when ctx ends. If it returns an error
	// then, the job is released and the attempt does not count. Defaults to none.
	Deliver func(ctx context.Context, d store.Delivery) (wire.JobResult, error)
}

// Work claims jobs of this process's agents, executes them, and sweeps, until ctx ends. Then each segment
// gives its run back at once, and Work returns nil after the last segment has stopped. A job of another
// agent stays in the queue; after a minute the worker warns about it.
//
// Unless the worker is for events only, it also sees to delayed starts and the ticks of schedules, and with
// [option.Webhooks.Sender] it tells endpoints of events. Both have slots of their own.
func (e *Engine) Work(ctx context.Context, o WorkOptions) error {
	works := []func(ctx context.Context) error{
		func(ctx context.Context) error { return worker.Run(ctx, e.worker(), slots.Options(o)) },
	}
	if !o.EventsOnly {
		works = append(works, e.beside()...)
	}
	return together(ctx, works)
}

// beside returns the workers of the engine's own events, with slots of their own.
func (e *Engine) beside() (works []func(ctx context.Context) error) {
	due := slots.Options{EventsOnly: true, Concurrency: dueSlots, MaxDeliveries: -1, Events: map[string]handler{
		later.Queue: e.intake.HandleDelayed,
	}}
	if e.schedules.Enabled() {
		due.Events[schedule.Queue] = e.schedules.Tick
	}
	c := e.worker()
	c.OwnQueues = true
	works = append(works, func(ctx context.Context) error { return worker.Run(ctx, c, due) })
	if e.deliveries != nil {
		works = append(works, func(ctx context.Context) error { return e.deliveries.Run(ctx, e.worker()) })
	}
	return works
}

// together calls functions at once, ends all of them with the first that fails, and returns its error.
func together(ctx context.Context, works []func(ctx context.Context) error) error {
	if len(works) == 1 {
		return works[0](ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	failed := make(chan error, len(works))
	for _, work := range works {
		all.Go(func() {
			if err := work(ctx); err != nil {
				failed <- err
				stop()
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

// worker returns the configuration of a worker.
func (e *Engine) worker() worker.Config {
	return worker.Config{
		Store: e.store, Live: e.threads.Live, Log: e.config.Log, Random: e.threads.Rules.Random, Agents: e.registry.Names(),
		Lease: e.config.Worker.Lease, Poll: e.config.Worker.Poll, SweepEvery: e.config.Worker.SweepEvery,
		Handle: e.runner.HandleJob, ClaimTicket: e.runner.ClaimTicket, Dead: e.HandleDeadJob, Sweep: e.tidy,
		Claimed: e.telemetry.Claimed, Health: &e.health, Workers: &e.workers,
	}
}

// dueSlots is how many delayed starts and ticks of schedules a worker sees to at once.
const dueSlots = 8

// handler handles an event.
type handler = func(ctx context.Context, event store.Delivery) error

// tidy writes the schedules of the configuration, sweeps, and removes threads and audit entries whose retention has
// passed, expired rows, and artifacts that nothing has any more.
func (e *Engine) tidy(ctx context.Context) {
	if err := e.schedules.SyncOnce(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "write the schedules of the configuration", "error", err)
	}
	if _, err := e.Sweep(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "sweep", "error", err)
	}
	if err := e.remover.Retain(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "remove old threads", "error", err)
	}
	if err := e.remover.RetainAudit(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "remove old entries of the audit log", "error", err)
	}
	if err := e.remover.RemoveExpired(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "remove expired rows", "error", err)
	}
	if err := e.remover.SweepArtifacts(ctx); err != nil && ctx.Err() == nil {
		e.config.Log.WarnContext(ctx, "sweep the artifacts", "error", err)
	}
}

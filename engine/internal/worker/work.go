// Package worker claims jobs and executes them: it keeps them leased, and tells the queue their
// outcomes. It also sweeps periodically. It touches the queue and the bus. Its caller provides the
// functions that execute jobs.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/slots"
)

const (
	// afterTimeout bounds a call to the queue that continues after ctx has ended.
	afterTimeout = 30 * time.Second
	// unknownAgentWait is the delay of a job whose agent this process lacks.
	unknownAgentWait = 5 * time.Second
	// maxDeliveryWait bounds the delay of a failed delivery, before a random quarter is added.
	maxDeliveryWait = time.Minute
)

type Config struct {
	Queue  spool.Queue
	Bus    spool.Bus
	Log    *slog.Logger
	Random random.Source
	// Lease is how long a claimed job is kept from other workers. Poll is the interval between polls
	// for due jobs, and SweepEvery the interval between sweeps.
	Lease, Poll, SweepEvery time.Duration

	// Handle executes a job that has a slot.
	Handle func(ctx context.Context, j spool.Job, in *slots.Slot) (spool.JobResult, error)
	// Dead fails the run of a dead job.
	Dead func(ctx context.Context, j spool.Job, attempts int, cause string) error
	// Sweep is called at the start and then every SweepEvery.
	Sweep func(ctx context.Context)
	// Claimed is called for each claimed job.
	Claimed func(ctx context.Context, d spool.Delivery)
	Health  *Health
}

type worker struct {
	Config

	options spool.WorkOptions
	slots   *slots.Slots
	wake    chan struct{}
	busy    sync.WaitGroup
}

// Run works until ctx ends, and returns nil when all its jobs have ended. It returns an
// [spool.Invalid] error for invalid options.
func Run(ctx context.Context, c Config, o spool.WorkOptions) error {
	if o.Concurrency <= 0 {
		o.Concurrency = 16
	}
	if o.PerTenant < 0 {
		return spool.Errorf(spool.Invalid, "WorkOptions.PerTenant is negative")
	}
	if o.MaxDeliveries <= 0 {
		o.MaxDeliveries = 100
	}
	w := &worker{Config: c, options: o, slots: slots.New(o), wake: make(chan struct{}, 1)}
	unsubscribe, err := c.Bus.Subscribe(ctx, spool.JobsTopic, func(spool.WakeKind) { w.pollNow() })
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	defer unsubscribe()
	defer c.Health.started()()
	w.busy.Go(func() { w.sweepPeriodically(ctx) })
	w.loop(ctx)
	w.busy.Wait()
	return nil
}

// pollNow makes the worker poll for due jobs at once.
func (w *worker) pollNow() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *worker) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
		timer.Reset(w.claim(ctx))
	}
}

// claim claims due jobs for the free slots. It returns the delay until the next poll.
func (w *worker) claim(ctx context.Context) time.Duration {
	poll := w.Poll
	q := w.slots.Query(w.Lease)
	if q.Limit == 0 {
		w.Health.polled(nil)
		return poll // a finished job wakes the loop
	}
	jobs, next, err := w.Queue.Claim(ctx, q)
	w.Health.polled(err)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.WarnContext(ctx, "claim jobs", "error", err)
		}
		return poll
	}
	for _, d := range jobs {
		w.Claimed(ctx, d)
		in := w.slots.Acquire(d.Job)
		w.busy.Go(func() {
			defer func() {
				in.Release()
				w.pollNow()
			}()
			w.deliver(ctx, d, in)
		})
	}
	if next.IsZero() {
		return poll
	}
	return min(poll, max(time.Until(next), time.Millisecond))
}

// deliver executes a job and tells the queue its outcome.
func (w *worker) deliver(ctx context.Context, d spool.Delivery, in *slots.Slot) {
	log := w.logger(d).With("kind", string(d.Kind))
	if d.Attempt > w.options.MaxDeliveries {
		w.giveUp(ctx, d, "it was delivered too often")
		return
	}
	stop := w.extend(ctx, d)
	result, err := w.handle(ctx, d, in)
	stop()

	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	switch {
	case err == nil && result.Accepted:
		err = w.Queue.Ack(after, d)
	case err == nil:
		log.DebugContext(ctx, "job comes back", "reason", result.Reason, "after", result.RetryAfter)
		err = w.Queue.Release(after, d, result.RetryAfter, true)
	case errors.Is(err, spool.ErrUnknownAgent):
		log.WarnContext(ctx, "job names an agent that this worker lacks", "agent", d.Agent)
		err = w.Queue.Release(after, d, unknownAgentWait, true)
	case ctx.Err() != nil:
		err = w.Queue.Release(after, d, 0, true)
	case d.Attempt >= w.options.MaxDeliveries, w.options.Deliver != nil && spool.CodeOf(err) == spool.Invalid:
		w.giveUp(ctx, d, spool.MessageOf(err))
		return
	default:
		log.WarnContext(ctx, "job failed", "attempt", d.Attempt, "error", err)
		err = w.Queue.Release(after, d, deliveryWait(d.Attempt, w.Random), false)
	}
	if err != nil && !errors.Is(err, spool.ErrFenced) {
		log.WarnContext(ctx, "settle job", "error", err)
	}
}

// handle executes the job in this process, or passes it to the Deliver option.
func (w *worker) handle(ctx context.Context, d spool.Delivery, in *slots.Slot) (spool.JobResult, error) {
	if w.options.Deliver != nil {
		return w.options.Deliver(ctx, d)
	}
	return w.Handle(ctx, d.Job, in)
}

// deliveryWait returns the delay after a failed delivery. A part is random, so that jobs that failed
// together do not come back together.
func deliveryWait(attempt int, r random.Source) time.Duration {
	wait := min(time.Second<<min(attempt, 6), maxDeliveryWait)
	return wait + r.UpTo(wait/4)
}

// giveUp fails a job's run and dead-letters the job.
func (w *worker) giveUp(ctx context.Context, d spool.Delivery, cause string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	err := w.Dead(ctx, d.Job, d.Attempt, cause)
	if err == nil {
		err = w.Queue.DeadLetter(ctx, d, cause)
	}
	w.logger(d).ErrorContext(ctx, "job is dead", "cause", cause, "error", err)
}

// extend keeps the job leased until the returned function is called.
func (w *worker) extend(ctx context.Context, d spool.Delivery) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(w.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// Losing the delivery does no harm, because the run has its own lease.
				_ = w.Queue.Extend(ctx, d, w.Lease)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// sweepPeriodically sweeps at once, because an earlier process may have left runs without a job, and
// then every SweepEvery.
func (w *worker) sweepPeriodically(ctx context.Context) {
	tick := time.NewTicker(w.SweepEvery)
	defer tick.Stop()
	for {
		w.Sweep(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *worker) logger(d spool.Delivery) *slog.Logger {
	log := w.Log.With("tenant", string(d.Tenant), "thread", string(d.ThreadID))
	if d.RunID != "" {
		log = log.With("run", string(d.RunID))
	}
	return log
}

// Package worker claims jobs and has them carried out: it keeps them leased, and tells the queue what
// became of each. It also sweeps from time to time. It touches the queue and the bus; what it does
// with a job is a function that its caller gives.
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
	// afterTimeout bounds what is told to the queue although ctx has ended.
	afterTimeout = 30 * time.Second
	// unknownAgentWait is when a job comes back that names an agent this process lacks.
	unknownAgentWait = 5 * time.Second
	// maxDeliveryWait bounds the wait before a failed delivery is made again, to which up to
	// a quarter is added at random.
	maxDeliveryWait = time.Minute
)

// Config says what a worker does.
type Config struct {
	Queue  spool.Queue
	Bus    spool.Bus
	Log    *slog.Logger
	Random random.Source
	// Lease is how long a claimed job is kept from others. Poll is how often the worker looks for
	// due jobs, SweepEvery how often it sweeps.
	Lease, Poll, SweepEvery time.Duration

	// Handle carries out a job that has a slot.
	Handle func(ctx context.Context, j spool.Job, in *slots.Slot) (spool.JobResult, error)
	// Dead fails the run of a job that is given up.
	Dead func(ctx context.Context, j spool.Job, attempts int, cause string) error
	// Sweep is called at the start and then from time to time.
	Sweep func(ctx context.Context)
	// Claimed is told of each job that is claimed.
	Claimed func(ctx context.Context, d spool.Delivery)
	// Health is told of each look for jobs.
	Health *Health
}

type worker struct {
	Config

	options spool.WorkOptions
	slots   *slots.Slots
	wake    chan struct{}
	busy    sync.WaitGroup
}

// Run works until ctx ends. It returns nil when all that it has begun has ended. It returns an
// [spool.Invalid] error for options that cannot work.
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
	unsubscribe, err := c.Bus.Subscribe(ctx, spool.JobsTopic, func(spool.WakeKind) { w.look() })
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	defer unsubscribe()
	defer c.Health.begin()()
	w.busy.Go(func() { w.sweepOften(ctx) })
	w.loop(ctx)
	w.busy.Wait()
	return nil
}

// look has the worker look for due jobs.
func (w *worker) look() {
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

// claim takes the jobs that are due and for which there is room. It returns when to look
// again.
func (w *worker) claim(ctx context.Context) time.Duration {
	poll := w.Poll
	q := w.slots.Query(w.Lease)
	if q.Limit == 0 {
		w.Health.looked(nil)
		return poll // a finished job wakes the loop
	}
	jobs, next, err := w.Queue.Claim(ctx, q)
	w.Health.looked(err)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.WarnContext(ctx, "claim jobs", "error", err)
		}
		return poll
	}
	for _, d := range jobs {
		w.Claimed(ctx, d)
		in := w.slots.Take(d.Job)
		w.busy.Go(func() {
			defer func() {
				in.Release()
				w.look()
			}()
			w.deliver(ctx, d, in)
		})
	}
	if next.IsZero() {
		return poll
	}
	return min(poll, max(time.Until(next), time.Millisecond))
}

// deliver carries a job out and tells the queue what became of it.
func (w *worker) deliver(ctx context.Context, d spool.Delivery, in *slots.Slot) {
	log := w.logger(d).With("kind", string(d.Kind))
	if d.Attempt > w.options.MaxDeliveries {
		w.giveUp(ctx, d, "it was delivered too often")
		return
	}
	stop := w.extend(ctx, d)
	result, err := w.carry(ctx, d, in)
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

// carry has the job carried out, here or by those whom Deliver reaches.
func (w *worker) carry(ctx context.Context, d spool.Delivery, in *slots.Slot) (spool.JobResult, error) {
	if w.options.Deliver != nil {
		return w.options.Deliver(ctx, d)
	}
	return w.Handle(ctx, d.Job, in)
}

// deliveryWait is when a delivery that failed is made again: jobs that failed together come
// back apart.
func deliveryWait(attempt int, r random.Source) time.Duration {
	wait := min(time.Second<<min(attempt, 6), maxDeliveryWait)
	return wait + r.UpTo(wait/4)
}

// giveUp gives a job up and fails its run.
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
				// A delivery that is lost is no loss: the run has a lease of its own.
				_ = w.Queue.Extend(ctx, d, w.Lease)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// sweepOften sweeps at once, as a process before this one may have left something, and from time
// to time.
func (w *worker) sweepOften(ctx context.Context) {
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

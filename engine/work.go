package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
)

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
	// is dead. A run that outlives many workers may need many; see [Config.MaxDeaths] for
	// one that kills them. Defaults to 100.
	MaxDeliveries int

	// Deliver takes each job in place of [Engine.HandleJob], to push it to where others carry
	// it out: this worker carries out none. Its result means what HandleJob's does. An error
	// of the code [spool.Invalid] gives the job up at once, any other has it delivered again.
	// It is called from several goroutines, and has to return when ctx ends; a job that it
	// returns an error for then is released without having cost an attempt. Defaults to none.
	Deliver func(ctx context.Context, d spool.Delivery) (JobResult, error)
}

const (
	// unknownAgentWait is when a job comes back that names an agent this process lacks.
	unknownAgentWait = 5 * time.Second
	// maxDeliveryWait bounds the wait before a failed delivery is made again, to which up to
	// a quarter is added at random.
	maxDeliveryWait = time.Minute
)

// worker claims jobs and carries them out.
type worker struct {
	e       *Engine
	options WorkOptions
	slots   *slots
	wake    chan struct{}
	busy    sync.WaitGroup
}

// Work claims and carries out jobs, and sweeps, until ctx ends. Its segments then hand
// their runs back at once, and Work returns nil when they have.
func (e *Engine) Work(ctx context.Context, o WorkOptions) error {
	if e.queue == nil {
		return spool.Errorf(spool.Invalid, "Backend.Queue is required to work")
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 16
	}
	if o.PerTenant < 0 {
		return spool.Errorf(spool.Invalid, "WorkOptions.PerTenant is negative")
	}
	if o.MaxDeliveries <= 0 {
		o.MaxDeliveries = 100
	}
	w := &worker{e: e, options: o, slots: newSlots(o), wake: make(chan struct{}, 1)}
	unsubscribe, err := e.bus.Subscribe(ctx, spool.JobsTopic, func(spool.WakeKind) { w.look() })
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	defer unsubscribe()
	defer e.looks.begin()()
	w.busy.Go(func() { w.sweep(ctx) })
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
	poll := w.e.config.Poll
	q := w.slots.query(w.e.config.Lease)
	if q.Limit == 0 {
		w.e.looks.looked(nil)
		return poll // a finished job wakes the loop
	}
	jobs, next, err := w.e.queue.Claim(ctx, q)
	w.e.looks.looked(err)
	if err != nil {
		if ctx.Err() == nil {
			w.e.config.Log.WarnContext(ctx, "claim jobs", "error", err)
		}
		return poll
	}
	for _, d := range jobs {
		w.e.telemetry.claimed(ctx, d)
		in := w.slots.take(d.Job)
		w.busy.Go(func() {
			defer func() {
				in.release()
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
func (w *worker) deliver(ctx context.Context, d spool.Delivery, in *slot) {
	log := concerning(w.e.config.Log, d.Thread(), d.RunID).With("kind", string(d.Kind))
	if d.Attempt > w.options.MaxDeliveries {
		w.bury(ctx, d, "it was delivered too often")
		return
	}
	stop := w.extend(ctx, d)
	result, err := w.carry(ctx, d, in)
	stop()

	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	switch {
	case err == nil && result.Accepted:
		err = w.e.queue.Ack(after, d)
	case err == nil:
		log.DebugContext(ctx, "job comes back", "reason", result.Reason, "after", result.RetryAfter)
		err = w.e.queue.Release(after, d, result.RetryAfter, true)
	case errors.Is(err, spool.ErrUnknownAgent):
		log.WarnContext(ctx, "job names an agent that this worker lacks", "agent", d.Agent)
		err = w.e.queue.Release(after, d, unknownAgentWait, true)
	case ctx.Err() != nil:
		err = w.e.queue.Release(after, d, 0, true)
	case d.Attempt >= w.options.MaxDeliveries, w.options.Deliver != nil && spool.CodeOf(err) == spool.Invalid:
		w.bury(ctx, d, spool.MessageOf(err))
		return
	default:
		log.WarnContext(ctx, "job failed", "attempt", d.Attempt, "error", err)
		err = w.e.queue.Release(after, d, deliveryWait(d.Attempt, w.e.rules.Random), false)
	}
	if err != nil && !errors.Is(err, spool.ErrFenced) {
		log.WarnContext(ctx, "settle job", "error", err)
	}
}

// carry has the job carried out, here or by those whom Deliver reaches.
func (w *worker) carry(ctx context.Context, d spool.Delivery, in *slot) (JobResult, error) {
	if w.options.Deliver != nil {
		return w.options.Deliver(ctx, d)
	}
	return w.e.handleJob(ctx, d.Job, in)
}

// deliveryWait is when a delivery that failed is made again: jobs that failed together come
// back apart.
func deliveryWait(attempt int, r random.Source) time.Duration {
	wait := min(time.Second<<min(attempt, 6), maxDeliveryWait)
	return wait + r.UpTo(wait/4)
}

// bury gives a job up and fails its run.
func (w *worker) bury(ctx context.Context, d spool.Delivery, cause string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := w.e.HandleDeadJob(ctx, d.Job, d.Attempt, cause)
	if err == nil {
		err = w.e.queue.Bury(ctx, d, cause)
	}
	concerning(w.e.config.Log, d.Thread(), d.RunID).ErrorContext(ctx, "job is dead", "cause", cause, "error", err)
}

// extend keeps the job leased until the returned function is called.
func (w *worker) extend(ctx context.Context, d spool.Delivery) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(w.e.config.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// A delivery that is lost is no loss: the run has a lease of its own.
				_ = w.e.queue.Extend(ctx, d, w.e.config.Lease)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// sweep sweeps at once, as those before may have left something, and from time to time.
func (w *worker) sweep(ctx context.Context) {
	tick := time.NewTicker(w.e.config.SweepEvery)
	defer tick.Stop()
	for {
		if _, err := w.e.Sweep(ctx); err != nil && ctx.Err() == nil {
			w.e.config.Log.WarnContext(ctx, "sweep", "error", err)
		}
		if err := w.e.retain(ctx); err != nil && ctx.Err() == nil {
			w.e.config.Log.WarnContext(ctx, "remove old threads", "error", err)
		}
		if err := w.e.retainAudit(ctx); err != nil && ctx.Err() == nil {
			w.e.config.Log.WarnContext(ctx, "remove old entries of the audit log", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

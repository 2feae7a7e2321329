// Package worker claims jobs and executes them: it keeps them leased, and tells the store their
// outcomes. It hands the events of the outbox to their handlers. It also sweeps periodically, unless it is for events
// only. It touches the jobs of the store and the wake-ups. Its caller provides the functions that execute jobs.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// afterTimeout bounds a call to the store that continues after ctx has ended.
	afterTimeout = 30 * time.Second
	// unknownWait is the delay of a job whose agent this process lacks, and of an event without a handler.
	unknownWait = 5 * time.Second
	// maxDeliveryWait bounds the delay of a failed delivery, before a random quarter is added.
	maxDeliveryWait = time.Minute
)

type Config struct {
	Store  store.Store
	Live   store.Live
	Log    *slog.Logger
	Random random.Source
	// Agents are the agents of this process.
	Agents []string
	// Lease is how long a claimed job is kept from other workers. Poll is the interval between polls
	// for due jobs, and SweepEvery the interval between sweeps.
	Lease, Poll, SweepEvery time.Duration

	Handle Handle
	// ClaimTicket claims the run of a ticket that no claim of the store has given out, and the ticket with it. It
	// returns what executes the run, or nil if there is nothing to execute: whoever claims the ticket sees to it.
	ClaimTicket func(ctx context.Context, ticket wire.Job) (store.Delivery, Handle, error)
	// Dead fails the run of a dead job.
	Dead func(ctx context.Context, j wire.Job, attempts int, cause string) error
	// Sweep is called at the start and then every SweepEvery.
	Sweep func(ctx context.Context)
	// Claimed is called for each claimed job.
	Claimed func(ctx context.Context, d store.Delivery)
	// Acked is called behind the acknowledgement of an event whose handler has decided, with its error. Nil: nothing is.
	Acked func(d store.Delivery, err error)
	// Health gets the results of polls, unless the worker is for events only.
	Health *Health
	// Workers are the workers of the process. This worker joins them, unless it is for events only.
	Workers *Workers
	// OwnQueues allows the names of the engine's own queues: see [wire.CheckQueue].
	OwnQueues bool
}

// Handle executes a job that has a slot.
type Handle = func(ctx context.Context, j wire.Job, in *slots.Slot) (wire.JobResult, error)

type worker struct {
	Config

	options slots.Options
	// queues and agents say which jobs the worker claims.
	queues, agents []string

	slots     *slots.Slots
	demand    demand
	wake      chan struct{}
	busy      sync.WaitGroup
	unclaimed unclaimed
}

// Run works until ctx ends, and returns nil when all its jobs have ended. It returns an
// [spool.Invalid] error for invalid options.
func Run(ctx context.Context, c Config, o slots.Options) error {
	if o.Concurrency <= 0 {
		o.Concurrency = 16
	}
	if o.PerTenant < 0 {
		return spool.Errorf(spool.Invalid, "WorkOptions.PerTenant is negative")
	}
	switch {
	case o.MaxDeliveries == 0:
		o.MaxDeliveries = 100
	case o.MaxDeliveries < 0:
		o.MaxDeliveries = math.MaxInt
	}
	w := &worker{Config: c, options: o, slots: slots.New(o), wake: make(chan struct{}, 1)}
	switch {
	case o.EventsOnly:
		w.agents, w.Health = []string{}, &Health{}
	case o.Deliver == nil:
		w.agents = c.Agents
	}
	check := wire.CheckQueue
	if c.OwnQueues {
		check = spool.CheckID
	}
	var err error
	if w.queues, err = queuesOf(o, check); err != nil {
		return err
	}
	w.slots.Queues = w.queues
	unsubscribe, err := w.listen(ctx)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	defer unsubscribe()
	defer w.Health.started()()
	defer w.busy.Wait()
	if !o.EventsOnly {
		w.busy.Go(func() { w.sweepPeriodically(ctx) })
		defer c.Workers.join(ctx, w)()
	}
	w.loop(ctx)
	return nil
}

// listen subscribes to the wake-ups for the jobs that the worker claims.
func (w *worker) listen(ctx context.Context) (stop func(), err error) {
	var topics []spool.ThreadKey
	if !w.options.EventsOnly {
		topics = append(topics, store.JobsTopic)
	}
	if len(w.options.Events) > 0 {
		topics = append(topics, store.EventsTopic)
	}
	stop = func() {}
	for _, topic := range topics {
		one, err := w.Live.Subscribe(ctx, topic, func(_ store.WakeKind, notice []byte) { w.woken(ctx, notice) })
		if err != nil {
			stop()
			return nil, err
		}
		others := stop
		stop = func() { one(); others() }
	}
	return stop, nil
}

// pollNow makes the worker poll for due jobs at once.
func (w *worker) pollNow() {
	w.demand.wake()
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
			select {
			case <-w.wake: // the next claim sees what it is about
			default:
			}
		}
		timer.Reset(w.claim(ctx))
	}
}

// claim claims due jobs for the free slots. It returns the delay until the next poll.
func (w *worker) claim(ctx context.Context) time.Duration {
	poll := w.Poll
	claimed := w.demand.claiming()
	q := w.slots.Query(w.Lease)
	if q.Limit == 0 {
		w.Health.polled(nil)
		return poll // a finished job wakes the loop
	}
	q.Queues, q.Agents = w.queues, w.agents
	jobs, next, err := w.Store.Claim(ctx, q)
	w.Health.polled(err)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.WarnContext(ctx, "claim jobs", "error", err)
		}
		return poll
	}
	for _, d := range jobs {
		w.place(ctx, w.slots.Acquire(d.Job)).Execute(d, w.Handle)
	}
	claimed(len(jobs) < q.Limit-q.Reserved)
	switch {
	case len(jobs) > 0 && w.options.EventsOnly:
		return 0 // only a claim that takes none says when the next event is due
	case next.IsZero():
		return poll
	}
	return min(poll, max(time.Until(next), time.Millisecond))
}

// deliver executes a job and tells the store its outcome. The ticket of a run is executed by execute.
func (w *worker) deliver(ctx context.Context, d store.Delivery, in *slots.Slot, execute Handle) {
	log := w.logger(d).With("kind", string(d.Kind))
	if d.Attempt > w.options.MaxDeliveries {
		w.deadLetter(ctx, d, "it was delivered too often")
		return
	}
	stop := w.extend(ctx, d)
	result, err := w.handle(ctx, d, in, execute)
	stop()

	ack, decided := w.decided(d, err)
	switch {
	case decided:
		log.DebugContext(ctx, "the handler decides", "ack", string(ack.Kind), "after", ack.After, "cause", ack.Cause)
	case err == nil && in.JobDone():
		return
	case err == nil && result.Accepted:
		ack = store.Ack{Kind: store.AckDone}
	case err == nil:
		log.DebugContext(ctx, "job comes back", "reason", result.Reason, "after", result.RetryAfter)
		ack = store.Ack{Kind: store.AckRelease, After: result.RetryAfter, Refund: true}
	case errors.Is(err, wire.ErrUnknownAgent):
		log.WarnContext(ctx, "job names an agent that this worker lacks", "agent", d.Agent)
		ack = store.Ack{Kind: store.AckRelease, After: unknownWait, Refund: true}
	case ctx.Err() != nil:
		ack = store.Ack{Kind: store.AckRelease, Refund: true}
	case d.Attempt >= w.options.MaxDeliveries, w.invalidIsFinal(d) && spool.CodeOf(err) == spool.Invalid:
		w.deadLetter(ctx, d, spool.MessageOf(err))
		return
	default:
		log.WarnContext(ctx, "job failed", "attempt", d.Attempt, "error", err)
		ack = store.Ack{Kind: store.AckRelease, After: deliveryWait(d.Attempt, w.Random)}
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	err = w.Store.Ack(after, d, ack)
	if decided && w.Acked != nil {
		w.Acked(d, err)
	}
	switch {
	case err != nil && !errors.Is(err, store.ErrFenced):
		log.WarnContext(ctx, "settle job", "error", err)
	case ack.Kind == store.AckDone && w.options.EventsOnly:
		in.Note(true, false) // an event that its handler has added comes with a wake-up
	}
}

// handle executes the job in this process, or passes it to the handler of its events or to the Deliver
// option.
func (w *worker) handle(ctx context.Context, d store.Delivery, in *slots.Slot, execute Handle) (wire.JobResult, error) {
	switch handler := w.options.Events[d.Queue]; {
	case d.Event() && handler != nil:
		return w.handleEvent(ctx, d, handler)
	case w.options.Deliver != nil:
		return w.options.Deliver(ctx, d)
	case d.Event():
		w.logger(d).WarnContext(ctx, "this worker has no handler for the event")
		return wire.JobResult{Reason: "this worker has no handler for the event", RetryAfter: unknownWait}, nil
	default:
		return execute(ctx, d.Job, in)
	}
}

// invalidIsFinal reports whether the first [spool.Invalid] error makes a job dead.
func (w *worker) invalidIsFinal(d store.Delivery) bool { return w.options.Deliver != nil || d.Event() }

// deliveryWait returns the delay after a failed delivery. A part is random, so that jobs that failed
// together do not come back together.
func deliveryWait(attempt int, r random.Source) time.Duration {
	wait := min(time.Second<<min(attempt, 6), maxDeliveryWait)
	return wait + r.UpTo(wait/4)
}

// deadLetter fails a job's run, if it is the ticket of one, and makes the job dead.
func (w *worker) deadLetter(ctx context.Context, d store.Delivery, cause string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	var err error
	if !d.Event() {
		err = w.Dead(ctx, d.Job, d.Attempt, cause)
	}
	if err == nil {
		err = w.Store.Ack(ctx, d, store.Ack{Kind: store.AckDead, Cause: cause})
	}
	w.logger(d).ErrorContext(ctx, "job is dead", "cause", cause, "error", err)
}

// extend keeps the job leased until the returned function is called.
func (w *worker) extend(ctx context.Context, d store.Delivery) (stop func()) {
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
				_ = w.Store.Ack(ctx, d, store.Ack{Kind: store.AckExtend, After: w.Lease})
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
		w.warnUnclaimed(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *worker) logger(d store.Delivery) *slog.Logger {
	if d.Event() {
		return w.Log.With("tenant", string(d.Tenant), "queue", d.Queue, "job", d.JobID)
	}
	log := w.Log.With("tenant", string(d.Tenant), "thread", string(d.ThreadID))
	if d.RunID != "" {
		log = log.With("run", string(d.RunID))
	}
	return log
}

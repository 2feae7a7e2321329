package nats

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Handler executes jobs. An engine is one.
type Handler interface {
	// HandleJob executes a job, with the contract of the engine's method.
	HandleJob(ctx context.Context, j wire.Job) (wire.JobResult, error)
	// HandleDeadJob fails the run of a job that was given up.
	HandleDeadJob(ctx context.Context, j wire.Job, attempts int, cause string) error
}

// ConsumeOptions are the options of a worker. The zero value works.
type ConsumeOptions struct {
	// Concurrency is how many jobs are executed at once. Defaults to 16.
	Concurrency int
	// MaxDeliveries is after how many deliveries a ticket whose job has failed again is given up. Defaults
	// to 100.
	MaxDeliveries uint64
}

const (
	// pull is how long one request for a ticket waits in the server.
	pull = 20 * time.Second
	// heartbeat is how often the server says that the request still waits. After two that are missing, the
	// worker asks again.
	heartbeat = 2 * time.Second
	// unknownAgentWait is the delay of a ticket whose agent this process lacks.
	unknownAgentWait = 5 * time.Second
	// maxFailedWait bounds the delay of a ticket whose job has failed.
	maxFailedWait = time.Minute
	// afterTimeout bounds what is still to do for a ticket when ctx has ended.
	afterTimeout = 30 * time.Second
)

// Consume takes tickets and executes them, until ctx ends. Then the jobs under way give their runs back, and
// Consume returns nil when all have ended. While NATS is away, it waits. Any number of processes may consume.
//
// A ticket that is executed twice does no harm: a job does nothing the second time. A ticket whose job failed
// comes back, to any worker, after a growing delay. So does one whose agent this process lacks, and one whose
// run another worker has.
func (t *Tickets) Consume(ctx context.Context, h Handler, o ConsumeOptions) error {
	or(&o.Concurrency, 16)
	or(&o.MaxDeliveries, 100)
	if h == nil || o.Concurrency < 0 {
		return spool.Errorf(spool.Invalid, "Consume needs a handler, and no negative Concurrency")
	}
	w := &ticketWorker{Tickets: t, handler: h, options: o}
	var working sync.WaitGroup
	for range o.Concurrency {
		working.Go(func() { w.work(ctx) })
	}
	working.Wait()
	return nil
}

type ticketWorker struct {
	*Tickets

	handler Handler
	options ConsumeOptions

	mu       sync.Mutex
	consumer jetstream.Consumer // nil until JetStream has answered, and after it has lost the queue
	away     bool               // the log has the present failure
}

// work takes one ticket after another. A worker asks for a ticket only when it is free, so no ticket waits in
// a busy process.
func (w *ticketWorker) work(ctx context.Context) {
	for ctx.Err() == nil {
		m, err := w.next(ctx)
		switch {
		case m != nil:
			w.execute(ctx, m)
		case err != nil && ctx.Err() == nil:
			w.failed(ctx, err)
			pause(ctx, time.Second)
		}
	}
}

// next returns the next ticket, or nil if there is none for a while.
func (w *ticketWorker) next(ctx context.Context) (jetstream.Msg, error) {
	consumer, err := w.ask(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pull)
	defer cancel()
	m, err := consumer.Next(jetstream.FetchContext(ctx), jetstream.FetchHeartbeat(heartbeat))
	if err != nil && !none(err) {
		w.mu.Lock()
		w.consumer = nil // it may be lost
		w.mu.Unlock()
		return nil, err
	}
	return m, nil
}

// ask returns the consumer.
func (w *ticketWorker) ask(ctx context.Context) (jetstream.Consumer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.consumer != nil {
		return w.consumer, nil
	}
	consumer, err := w.ready(ctx)
	if err != nil {
		return nil, err
	}
	w.consumer, w.away = consumer, false
	return consumer, nil
}

// failed logs the first failure since JetStream has last answered.
func (w *ticketWorker) failed(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.away {
		w.log.WarnContext(ctx, "take tickets from NATS", "error", err)
	}
	w.away = true
}

// execute executes a ticket and acknowledges it.
func (w *ticketWorker) execute(ctx context.Context, m jetstream.Msg) {
	var j wire.Job
	if err := json.Unmarshal(m.Data(), &j); err != nil {
		w.log.ErrorContext(ctx, "a ticket cannot be read", "subject", m.Subject(), "error", err)
		w.note(ctx, m.Term())
		return
	}
	delivered := uint64(1)
	if meta, err := m.Metadata(); err == nil {
		delivered = meta.NumDelivered
	}
	release := w.hold(ctx, m)
	result, err := w.handler.HandleJob(ctx, j)
	release()
	switch {
	case err == nil && result.Accepted:
		err = m.Ack()
	case err == nil:
		err = w.postpone(m, j, delivered, result.RetryAfter)
	case errors.Is(err, wire.ErrUnknownAgent):
		w.logger(j).WarnContext(ctx, "a ticket names an agent that this worker lacks", "agent", j.Agent)
		err = w.postpone(m, j, delivered, unknownAgentWait)
	case ctx.Err() != nil:
		err = m.Nak()
	case delivered >= w.options.MaxDeliveries:
		err = w.giveUp(ctx, m, j, delivered, spool.MessageOf(err))
	default:
		w.logger(j).WarnContext(ctx, "job failed", "delivery", delivered, "error", err)
		err = m.NakWithDelay(min(time.Second<<min(delivered, 6), maxFailedWait))
	}
	w.note(ctx, err)
}

// hold keeps a ticket from other workers until release is called.
func (w *ticketWorker) hold(ctx context.Context, m jetstream.Msg) (release func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // a job under way ends after ctx
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(w.Tickets.consumer.AckWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = m.InProgress() // another worker that gets the ticket does no harm
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// postpone makes a ticket come back after a while. JetStream counts that as a delivery, although nothing has
// failed. So that the next failure does not end a run, a ticket that was postponed often is dropped: then its
// run has no job, and the sweep gives it a new ticket, whose count begins anew. No sweep does that for a
// settlement.
func (w *ticketWorker) postpone(m jetstream.Msg, j wire.Job, delivered uint64, wait time.Duration) error {
	if delivered >= (w.options.MaxDeliveries+1)/2 && j.Kind != wire.JobSettle {
		return m.Ack()
	}
	return m.NakWithDelay(max(wait, time.Millisecond))
}

// giveUp fails a job's run, and removes the ticket.
func (w *ticketWorker) giveUp(ctx context.Context, m jetstream.Msg, j wire.Job, delivered uint64, cause string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	attempts := int(min(delivered, 1<<30))
	if err := w.handler.HandleDeadJob(ctx, j, attempts, cause); err != nil {
		return errors.Join(err, m.NakWithDelay(maxFailedWait))
	}
	w.logger(j).ErrorContext(ctx, "job is dead", "cause", cause)
	return m.Term()
}

// note logs an acknowledgement that failed. The ticket then comes back, which does no harm.
func (w *ticketWorker) note(ctx context.Context, err error) {
	if err != nil {
		w.log.WarnContext(ctx, "acknowledge ticket", "error", err)
	}
}

func (t *Tickets) logger(j wire.Job) *slog.Logger {
	return t.log.With("tenant", string(j.Tenant), "thread", string(j.ThreadID), "run", string(j.RunID))
}

// none reports whether an error only says that there was no ticket.
func none(err error) bool {
	return errors.Is(err, natsgo.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) ||
		errors.Is(err, context.DeadlineExceeded)
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

package nats

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TicketOptions are the options of [NewTickets]. The zero value works.
type TicketOptions struct {
	// Prefix begins all subjects, as that of [LiveOptions]. Defaults to [DefaultPrefix].
	Prefix string
	// Stream is the name of the work queue in JetStream. Defaults to "SPOOL_TICKETS".
	Stream string
	// MaxTickets bounds how many tickets the work queue has. More stay in the store, which hands them out fairly
	// among tenants; the work queue does not. It applies when the queue is made. Defaults to 1,000.
	MaxTickets int64
	// Replicas is how many servers of a cluster have each ticket. It applies when the queue is made. Defaults
	// to 1.
	Replicas int
	// Memory keeps the tickets in the memory of the servers, and not in their files. It applies when the queue
	// is made. Defaults to files.
	Memory bool
	// AckWait is how long a ticket is kept from other workers after its worker has last said that it works on
	// it. A worker says so every third of that time. Defaults to 30 s.
	AckWait time.Duration
	// Timeout bounds each request to JetStream. Defaults to 5 s.
	Timeout time.Duration
	// Direct executes the jobs that only the queue remembers, in the process that claims them: those of the kind
	// [wire.JobSettle], which no sweep makes good. It is the engine's HandleJob. Defaults to none: these jobs
	// go through NATS as well.
	Direct func(ctx context.Context, j wire.Job) (wire.JobResult, error)
	// Log gets what goes wrong. Defaults to [slog.Default].
	Log *slog.Logger
}

// Tickets is a work queue in JetStream, through which processes hand jobs to each other. It is safe for
// concurrent use.
//
// The queue has at most one ticket of a job's key at a time, from its publication until a worker acknowledges
// it. A further job with the same key stays in the store until then. So the tickets that a sweep adds for runs
// that wait in NATS do not pile up, and take the place of a ticket that NATS loses.
type Tickets struct {
	js       jetstream.JetStream
	subjects subjects
	config   jetstream.StreamConfig
	consumer jetstream.ConsumerConfig
	timeout  time.Duration
	direct   func(ctx context.Context, j wire.Job) (wire.JobResult, error)
	log      *slog.Logger
}

// consumerName is the name of the one consumer of the work queue, which all workers share.
const consumerName = "workers"

// NewTickets returns the work queue over a connection, which the caller closes after all calls of the Tickets
// have returned. Nil options stand for the defaults. NewTickets does not wait for a server: the queue is made
// when it is first used, or was lost. It returns an [spool.Invalid] error for a connection that does not
// reconnect for ever.
func NewTickets(conn *natsgo.Conn, o *TicketOptions) (*Tickets, error) {
	if o == nil {
		o = &TicketOptions{}
	}
	t := *o
	or(&t.Prefix, DefaultPrefix)
	or(&t.Stream, "SPOOL_TICKETS")
	or(&t.MaxTickets, 1000)
	or(&t.Replicas, 1)
	or(&t.AckWait, 30*time.Second)
	or(&t.Timeout, 5*time.Second)
	if t.Log == nil {
		t.Log = slog.Default()
	}
	if err := errors.Join(checkPrefix(t.Prefix), checkConn(conn)); err != nil {
		return nil, &spool.Error{Code: spool.Invalid, Message: err.Error(), Err: err}
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(t.Timeout))
	if err != nil {
		return nil, spool.Wrap(spool.Invalid, "use JetStream", err)
	}
	storage := jetstream.FileStorage
	if t.Memory {
		storage = jetstream.MemoryStorage
	}
	s := subjects(t.Prefix)
	return &Tickets{
		js: js, subjects: s, timeout: t.Timeout, direct: t.Direct, log: t.Log,
		config: jetstream.StreamConfig{
			Name: t.Stream, Description: "tickets of agent runs", Subjects: []string{s.of(kindTicket) + ".>"},
			Retention: jetstream.WorkQueuePolicy, Storage: storage, Replicas: t.Replicas,
			MaxMsgs: t.MaxTickets, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		},
		consumer: jetstream.ConsumerConfig{
			Durable: consumerName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: t.AckWait,
			MaxDeliver: -1, MaxAckPending: -1, // the workers count
		},
	}, nil
}

func or[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// ready makes the queue and its consumer if they are missing. It leaves a queue as it is that has other limits.
func (t *Tickets) ready(ctx context.Context) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	_, err := t.js.Stream(ctx, t.config.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = t.js.CreateStream(ctx, t.config)
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // somebody else was faster
		return nil, err
	}
	return t.js.CreateOrUpdateConsumer(ctx, t.config.Name, t.consumer)
}

const (
	// awayWait is how long a job stays in the store while JetStream does not take it, and pendingWait while
	// the queue has a ticket with the same key.
	awayWait    = 2 * time.Second
	pendingWait = 30 * time.Second
)

// Deliver publishes a claimed job as a ticket. It is for [engine.WorkOptions]. The result is accepted when
// JetStream has stored the ticket. If JetStream does not take it, the job comes back without costing an
// attempt. Deliver returns an [spool.Invalid] error for an event of the outbox.
func (t *Tickets) Deliver(ctx context.Context, d store.Delivery) (wire.JobResult, error) {
	switch {
	case d.Event():
		return wire.JobResult{}, spool.Errorf(spool.Invalid, "an event of the outbox is no ticket")
	case d.Kind == wire.JobSettle && t.direct != nil:
		return t.direct(ctx, d.Job)
	}
	err := t.publish(ctx, d)
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		if _, err = t.ready(ctx); err == nil {
			err = t.publish(ctx, d)
		}
	}
	switch {
	case err == nil:
		return wire.JobResult{Accepted: true}, nil
	case ctx.Err() != nil:
		return wire.JobResult{}, ctx.Err()
	case refused(err) && t.pending(ctx, d.Job):
		return wire.JobResult{Reason: "NATS has a ticket of the job", RetryAfter: pendingWait}, nil
	case refused(err):
		return wire.JobResult{Reason: "the work queue in NATS is full", RetryAfter: awayWait}, nil
	default:
		t.logger(d.Job).WarnContext(ctx, "publish ticket", "error", err)
		return wire.JobResult{Reason: "NATS does not take the ticket", RetryAfter: awayWait}, nil
	}
}

// publish publishes a ticket. Its message id has the job's key and id: a repeated publication of one job of the
// store is dropped, but a later job with the same key is not.
func (t *Tickets) publish(ctx context.Context, d store.Delivery) error {
	body, err := json.Marshal(d.Job)
	if err != nil {
		return spool.Wrap(spool.Invalid, "encode ticket", err)
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	id := string(d.Tenant) + "/" + d.Key + "/" + strconv.FormatInt(d.JobID, 10)
	_, err = t.js.Publish(ctx, t.subject(d.Job), body, jetstream.WithMsgID(id), jetstream.WithExpectStream(t.config.Name),
		jetstream.WithRetryAttempts(0))
	return err
}

func (t *Tickets) subject(j wire.Job) string {
	return t.subjects.of(kindTicket, string(j.Tenant), j.Key)
}

// refused reports whether the queue has no room for a ticket.
func refused(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == storeFailed
}

// storeFailed is JetStream's code for a message that a limit of the stream refuses.
const storeFailed jetstream.ErrorCode = 10077

// pending reports whether the queue has a ticket with the key of a job.
func (t *Tickets) pending(ctx context.Context, j wire.Job) bool {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	stream, err := t.js.Stream(ctx, t.config.Name)
	if err != nil {
		return false
	}
	_, err = stream.GetLastMsgForSubject(ctx, t.subject(j))
	return err == nil
}

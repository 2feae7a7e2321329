package nats

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// handler is a [Handler] that tells the test of each call, and answers with what the test has put in.
type handler struct {
	calls   chan wire.Job
	answers chan answer // the zero answer when it is empty and closed
	dead    chan string
}

type answer struct {
	wire.JobResult
	err error
	// during is called before the answer.
	during func(ctx context.Context)
}

var accepted = answer{JobResult: wire.JobResult{Accepted: true}}

func newHandler() *handler {
	return &handler{calls: make(chan wire.Job, 1000), answers: make(chan answer, 1000), dead: make(chan string, 1000)}
}

func (h *handler) HandleJob(ctx context.Context, j wire.Job) (wire.JobResult, error) {
	h.calls <- j
	a := accepted
	select {
	case a = <-h.answers:
	default:
	}
	if a.during != nil {
		a.during(ctx)
	}
	return a.JobResult, a.err
}

func (h *handler) HandleDeadJob(_ context.Context, _ wire.Job, _ int, cause string) error {
	h.dead <- cause
	return nil
}

func newTickets(t *testing.T, s *testServer, o TicketOptions) *Tickets {
	t.Helper()
	o.Log = quiet()
	q, err := NewTickets(s.connect(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// consume consumes until the test ends, or stop is called.
func consume(t *testing.T, q *Tickets, h Handler, o ConsumeOptions) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Consume(ctx, h, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := testwait.For(t, done, "the worker to end"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// job returns a claimed job with a key.
func job(key string) store.Delivery {
	return store.Delivery{
		Job:   wire.Job{Tenant: "acme", ThreadID: "t.1", RunID: "r.1", Agent: "a", Key: key, Segment: 1},
		JobID: wire.NewJobID(), Attempt: 1,
	}
}

// deliver delivers a job.
func deliver(t *testing.T, q *Tickets, d store.Delivery) wire.JobResult {
	t.Helper()
	r, err := q.Deliver(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// delivers hands over a job that the queue must take.
func delivers(t *testing.T, q *Tickets, d store.Delivery) {
	t.Helper()
	if r := deliver(t, q, d); !r.Accepted {
		t.Fatalf("the queue does not take the job: %+v", r)
	}
}

// tickets returns how many tickets the queue has.
func (t *Tickets) tickets() uint64 {
	ctx, cancel := context.WithTimeout(context.Background(), t.timeout)
	defer cancel()
	stream, err := t.js.Stream(ctx, t.config.Name)
	if err != nil {
		return 0
	}
	return stream.CachedInfo().State.Msgs
}

// A job goes to one of the workers as it is, and is gone when it was executed.
func TestTicket(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	front, h := newTickets(t, s, TicketOptions{}), newHandler()
	for range 2 {
		consume(t, newTickets(t, s, TicketOptions{}), h, ConsumeOptions{})
	}
	want := job("run:r.1:1")
	delivers(t, front, want)
	if got := testwait.For(t, h.calls, "the job"); got.Key != want.Key || got.Thread() != want.Thread() ||
		got.RunID != want.RunID || got.Segment != 1 || got.Agent != "a" {
		t.Errorf("the worker got %+v, want %+v", got, want.Job)
	}
	eventually(t, "the queue to be empty", func() bool { return front.tickets() == 0 })
	if len(h.calls) != 0 {
		t.Error("two workers got the ticket")
	}
}

// The queue has one ticket of a key at a time. A job with the same key is not lost: it stays in the store
// until then, and comes again.
func TestTicketTwice(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{}), newHandler()
	first, again := job("run:r.1:1"), job("run:r.1:1")
	delivers(t, q, first)
	if r := deliver(t, q, again); r.Accepted || r.RetryAfter != pendingWait {
		t.Errorf("a job while the queue has a ticket of its key: %+v", r)
	}
	other := job("run:r.1:1")
	other.Tenant = "other"
	delivers(t, q, other)
	consume(t, q, h, ConsumeOptions{})
	testwait.For(t, h.calls, "one ticket")
	testwait.For(t, h.calls, "the one of the other tenant")
	eventually(t, "the queue to be empty", func() bool { return q.tickets() == 0 })
	delivers(t, q, again) // within JetStream's window for repeated message ids
	testwait.For(t, h.calls, "the job that was put off")
}

// A job whose publication is repeated, because its answer was lost, is one ticket.
func TestTicketRepeated(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{}), newHandler()
	d := job("run:r.1:1")
	delivers(t, q, d)
	consume(t, q, h, ConsumeOptions{})
	testwait.For(t, h.calls, "the ticket")
	eventually(t, "the queue to be empty", func() bool { return q.tickets() == 0 })
	d.Token, d.Attempt = 7, 2
	delivers(t, q, d)
	if n := q.tickets() + uint64(len(h.calls)); n != 0 {
		t.Errorf("the job became %d tickets more", n)
	}
}

// A queue that is full leaves jobs in the store.
func TestTicketsFull(t *testing.T) {
	t.Parallel()
	q := newTickets(t, startServer(t), TicketOptions{MaxTickets: 2})
	delivers(t, q, job("a"))
	delivers(t, q, job("b"))
	if r := deliver(t, q, job("c")); r.Accepted || r.RetryAfter != awayWait {
		t.Errorf("a job for a full queue: %+v", r)
	}
}

// Without JetStream, a job stays in the store and keeps its attempts. When it is back, with an empty disk,
// the queue is made again, and the worker goes on.
func TestTicketsAway(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{Timeout: time.Second, Memory: true}), newHandler()
	consume(t, newTickets(t, s, TicketOptions{Timeout: time.Second, Memory: true}), h, ConsumeOptions{Concurrency: 2})
	delivers(t, q, job("a"))
	testwait.For(t, h.calls, "a ticket")
	s.stop()
	if r := deliver(t, q, job("b")); r.Accepted || r.RetryAfter != awayWait {
		t.Errorf("a job without a server: %+v", r)
	}
	s.start()
	eventually(t, "the queue to take jobs", func() bool { return deliver(t, q, job("b")).Accepted })
	testwait.For(t, h.calls, "a ticket after the outage")
}

// What the handler says decides when the ticket comes back.
func TestTicketComesBack(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]answer{
		"Busy":         {JobResult: wire.JobResult{RetryAfter: 10 * time.Millisecond}},
		"Failed":       {err: errors.New("the store is away")},
		"UnknownAgent": {err: wire.ErrUnknownAgent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			q, h := newTickets(t, s, TicketOptions{}), newHandler()
			h.answers <- first
			consume(t, q, h, ConsumeOptions{})
			delivers(t, q, job("a"))
			testwait.For(t, h.calls, "the ticket")
			testwait.For(t, h.calls, "the ticket again")
			eventually(t, "the queue to be empty", func() bool { return q.tickets() == 0 })
			if len(h.dead) != 0 {
				t.Error("the job died")
			}
		})
	}
}

// A job that keeps failing is given up, and fails its run.
func TestTicketDies(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{}), newHandler()
	for range 2 {
		h.answers <- answer{err: spool.Errorf(spool.Unavailable, "the store is away")}
	}
	consume(t, q, h, ConsumeOptions{MaxDeliveries: 2})
	delivers(t, q, job("a"))
	if cause := testwait.For(t, h.dead, "the end"); cause != "the store is away" || len(h.calls) != 2 {
		t.Errorf("the job died after %d calls of %q", len(h.calls), cause)
	}
	eventually(t, "the queue to be empty", func() bool { return q.tickets() == 0 })
}

// A ticket that was only put off never fails its run. It is dropped, so that the sweep makes a new one, but for
// a settlement, which no sweep makes good.
func TestTicketPostponed(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{}), newHandler()
	for range 50 {
		h.answers <- answer{JobResult: wire.JobResult{RetryAfter: time.Millisecond}}
	}
	stop := consume(t, q, h, ConsumeOptions{MaxDeliveries: 6})
	delivers(t, q, job("a"))
	eventually(t, "the queue to be empty", func() bool { return q.tickets() == 0 })
	if n := len(h.calls); n != 3 {
		t.Errorf("the ticket was dropped after %d calls, want 3", n)
	}
	settle := job("settle:r.1")
	settle.Kind = wire.JobSettle
	delivers(t, q, settle)
	eventually(t, "the settlement to be accepted", func() bool { return q.tickets() == 0 })
	if n := len(h.calls); n != 51 {
		t.Errorf("the handler was called %d times, want 51", n)
	}
	stop()
	if len(h.dead) != 0 {
		t.Error("a job died")
	}
}

// A worker that shuts down ends its jobs, and another one gets those that it did not finish.
func TestConsumeEnds(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{AckWait: time.Hour}), newHandler()
	h.answers <- answer{err: context.Canceled, during: func(ctx context.Context) { <-ctx.Done() }}
	stop := consume(t, q, h, ConsumeOptions{Concurrency: 1})
	delivers(t, q, job("a"))
	testwait.For(t, h.calls, "the ticket")
	stop()
	consume(t, newTickets(t, s, TicketOptions{AckWait: time.Hour}), h, ConsumeOptions{})
	testwait.For(t, h.calls, "the ticket at the next worker")
}

// renewed is a ticket that notes when its worker says that it works on it.
type renewed struct {
	jetstream.Msg

	job   wire.Job
	began time.Time
	at    []time.Duration
	acked time.Duration
}

func (r *renewed) Data() []byte {
	data, _ := json.Marshal(r.job) //nolint:errchkjson // a job has a JSON form
	return data
}

func (r *renewed) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{NumDelivered: 1}, nil
}

func (r *renewed) InProgress() error {
	r.at = append(r.at, time.Since(r.began))
	return nil
}

func (r *renewed) Ack() error {
	r.acked = time.Since(r.began)
	return nil
}

// A worker says every third of AckWait that it works on a ticket, as long as its job takes, and not longer.
func TestTicketHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const third = 100 * time.Millisecond
		h := newHandler()
		h.answers <- answer{JobResult: accepted.JobResult, during: func(context.Context) { <-time.After(15*third + third/2) }}
		q := &Tickets{consumer: jetstream.ConsumerConfig{AckWait: 3 * third}, log: quiet()}
		m := &renewed{job: job("a").Job, began: time.Now()}
		(&ticketWorker{Tickets: q, handler: h}).execute(t.Context(), m)
		<-time.After(10 * third)
		if len(m.at) != 15 || m.acked != 15*third+third/2 {
			t.Errorf("the worker said it %d times, and acknowledged after %s", len(m.at), m.acked)
		}
		for i, at := range m.at {
			if want := time.Duration(i+1) * third; at != want {
				t.Errorf("the worker said it after %s, want %s", at, want)
			}
		}
	})
}

// JetStream leaves a job that takes longer than AckWait to its worker. The times are long, because a machine that
// is so busy that a worker is late by AckWait makes the ticket go to another worker, which does no harm.
func TestTicketHeldByServer(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{AckWait: 2 * time.Second}), newHandler()
	h.answers <- answer{JobResult: accepted.JobResult, during: func(context.Context) { <-time.After(5 * time.Second) }}
	consume(t, q, h, ConsumeOptions{})
	delivers(t, q, job("a"))
	eventually(t, "the queue to be empty", func() bool { return q.tickets() == 0 })
	if n := len(h.calls); n != 1 {
		t.Errorf("the ticket was executed %d times", n)
	}
}

// A ticket whose worker died goes to another one.
func TestWorkerDies(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q, h := newTickets(t, s, TicketOptions{AckWait: 200 * time.Millisecond}), newHandler()
	delivers(t, q, job("a"))
	consumer, err := q.ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := consumer.Next(jetstream.FetchMaxWait(testwait.Limit)); err != nil { // and never says a word
		t.Fatal(err)
	}
	consume(t, q, h, ConsumeOptions{})
	testwait.For(t, h.calls, "the ticket")
}

// What is no ticket is refused or executed here.
func TestDeliverDirect(t *testing.T) {
	t.Parallel()
	direct := make(chan wire.Job, 1)
	q := newTickets(t, startServer(t), TicketOptions{Direct: func(_ context.Context, j wire.Job) (wire.JobResult, error) {
		direct <- j
		return wire.JobResult{Accepted: true}, nil
	}})
	settle, event := job("settle:r.1"), job("hook")
	settle.Kind, event.RunID = wire.JobSettle, ""
	delivers(t, q, settle)
	if len(direct) != 1 || q.tickets() != 0 {
		t.Error("the settlement was not executed here")
	}
	if _, err := q.Deliver(t.Context(), event); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("an event: %v", err)
	}
}

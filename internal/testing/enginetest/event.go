package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// These are cases of events of the outbox, and of workers that have nothing but events.
var eventTests = map[string]func(s eventTest){
	"Decided":     testEventDecided,
	"Only":        testEventOnly,
	"BesideStart": testEventBesideStart,
	"DueAt":       testEventDueAt,
	"Redriven":    testEventRedriven,
}

type eventTest struct{ *engineTest }

// publish adds events of a queue.
func (s eventTest) publish(events ...wire.Job) {
	s.Helper()
	nobody := spool.ThreadKey{Tenant: chat.Tenant}
	err := s.backend.Store.Update(context.Background(), nobody, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Jobs: events})
	})
	if err != nil {
		s.Fatal(err)
	}
}

func mail(key string) wire.Job {
	return wire.Job{Queue: "mail", Key: key, Payload: []byte(`{"to":"` + key + `"}`)}
}

// mailbox notes what its handler gets.
type mailbox struct {
	mu  sync.Mutex
	got []string
	at  []time.Time
}

// only returns the options of a worker of events. Its handler notes each delivery, and ends as then says.
func (m *mailbox) only(then func(d store.Delivery) error) engine.WorkOptions {
	handle := func(_ context.Context, d store.Delivery) error {
		m.mu.Lock()
		m.got, m.at = append(m.got, fmt.Sprintf("%s %d", d.Key, d.Attempt)), append(m.at, time.Now())
		m.mu.Unlock()
		if then == nil {
			return nil
		}
		return then(d)
	}
	return engine.WorkOptions{
		EventsOnly: true, Events: map[string]func(context.Context, store.Delivery) error{"mail": handle},
	}
}

// read returns what the handler has got so far.
func (m *mailbox) read() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}

// testEventDecided has a handler that says what becomes of its events.
func testEventDecided(s eventTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	s.publish(mail("counted"), mail("refunded"), mail("dead"), mail("done"))
	var box mailbox
	o := box.only(func(d store.Delivery) error {
		again := store.Ack{Kind: store.AckRelease, After: 100 * time.Millisecond, Refund: d.Key == "refunded"}
		switch n := len(slices.DeleteFunc(box.read(), func(l string) bool { return !strings.HasPrefix(l, d.Key) })); {
		case d.Key == "dead":
			return &store.AckError{Ack: store.Ack{Kind: store.AckDead, Cause: "status 410"}}
		case d.Key == "done":
			return &store.AckError{Ack: store.Ack{Kind: store.AckDone}}
		case n < 4:
			return &store.AckError{Ack: again}
		}
		return nil
	})
	o.MaxDeliveries = 2
	s.workWith(e, o)
	s.until("the end of all events", func() bool {
		q := s.jobs()
		return q.Ready+q.Delayed+q.InFlight == 0
	})
	got := box.read()
	slices.Sort(got)
	s.same("deliveries", got, []string{
		"counted 1", "counted 2", "counted 2", "counted 2", "dead 1", "done 1",
		"refunded 1", "refunded 1", "refunded 1", "refunded 1",
	})
	dead := s.deadJobs()
	if len(dead) != 1 || dead[0].Key != "dead" || dead[0].Cause != "status 410" || dead[0].Attempts != 1 {
		s.Errorf("the dead jobs are %+v", dead)
	}
}

// testEventOnly has a worker of events, and a run that waits for another one. The worker claims, and does nothing else.
// It says nothing about the health of the process.
func testEventOnly(s eventTest) {
	f := spooltest.NewFaulty(s.join())
	e := s.over(f.Backend(), s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.start(e, "r1", "go")
	before := len(f.Log())
	var box mailbox
	stop := s.workWith(e, box.only(nil))
	s.publish(mail("e1"))
	s.until("the event", func() bool { return len(box.read()) == 1 })
	<-time.After(time.Minute)
	for _, call := range f.Log()[before:] {
		if !strings.HasPrefix(call, "Store.Claim") && !strings.HasPrefix(call, "Store.Ack") {
			s.Errorf("the worker calls %s", call)
		}
	}
	health := func(when string, works bool) {
		s.Helper()
		if err := e.CheckWorker(context.Background()); (err == nil) != works {
			s.Errorf("%s: %v", when, err)
		}
	}
	health("with a worker of events", false)
	if s.thread().State != wire.Queued {
		s.Errorf("the thread is %s", s.thread().State)
	}
	stopRuns := s.work(e)
	s.ended(wire.Completed)
	health("with a worker of runs", true)
	s.publish(mail("e2"))
	s.until("the next event", func() bool { return len(box.read()) == 2 })
	stopRuns()
	health("behind the worker of runs", false)
	stop()
	s.same("deliveries", box.read(), []string{"e1 1", "e2 1"})
}

// testEventBesideStart wakes the workers for events, whose handler hangs. A start still claims its run, and the next
// one has no slot of the worker of events.
func testEventBesideStart(s eventTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Turn{Text: []string{"one"}, Gate: gate},
		spooltest.Say("two"))
	c := s.config(m)
	e := takeTest(s).taker(c, engine.WorkOptions{Concurrency: 1})
	var box mailbox
	hangs := make(chan struct{})
	defer close(hangs)
	s.workWith(e.Engine, box.only(func(store.Delivery) error {
		<-hangs
		return nil
	}))
	<-time.After(still)
	s.publish(mail("e1"), mail("e2"))
	s.join().Live.Wake(store.EventsTopic, store.WakeJobs, nil)
	s.start(e.Engine, "r1", "go")
	s.startAs(e.Engine, thread("t2"), wire.StartRequest{Prompt: "go", RunID: "r2"})
	s.until("the events", func() bool { return len(box.read()) == 2 })
	s.until("the question", func() bool { return m.Asked() == 2 })
	if !e.store.taken("r1") || e.store.taken("r2") {
		s.Errorf("taken: %v, want r1 and not r2", e.store.runs)
	}
	close(gate)
	s.endsWithin(thread("t2"), time.Minute)
	s.ended(wire.Completed)
}

// endsWithin waits until the run of a thread has completed.
func (s eventTest) endsWithin(key spool.ThreadKey, within time.Duration) {
	s.Helper()
	fairTest(s).endsWithin(key, within)
}

// testEventDueAt has an event that is due later, and no wake-ups. The worker sleeps until then, and claims as often as
// its poll says.
func testEventDueAt(s eventTest) {
	f := spooltest.NewFaulty(s.join())
	f.DropWakes(true)
	c := s.config(spooltest.NewModel())
	c.Worker.Poll = 20 * time.Second
	e := s.over(f.Backend(), c)
	due := mail("e1")
	due.DueAt = s.now().Add(50 * time.Second)
	s.publish(due)
	var box mailbox
	stop := s.workWith(e, box.only(nil))
	<-time.After(55 * time.Second)
	stop()
	if got := box.read(); len(got) != 1 {
		s.Fatalf("the handler got %q", got)
	}
	if late := box.at[0].Sub(due.DueAt); late < 0 || late > 2*time.Millisecond {
		s.Errorf("the event comes %s behind its time", late)
	}
	claims := 0
	for _, call := range f.Log() {
		if strings.HasPrefix(call, "Store.Claim") {
			claims++
		}
	}
	if claims > 6 { // three polls, the one at 50 s, one behind it, and perhaps one behind the handler
		s.Errorf("the worker has claimed %d times", claims)
	}
}

// testEventRedriven redrives a dead event: that wakes the worker of events, and not that of runs.
func testEventRedriven(s eventTest) {
	c := s.config(spooltest.NewModel())
	c.Worker.Poll = time.Hour
	c.Worker.SweepEvery = time.Hour
	e := s.engine(c)
	s.publish(mail("e1"))
	var box mailbox
	o := box.only(func(store.Delivery) error {
		if len(box.read()) == 1 {
			return spool.Errorf(spool.Invalid, "it has no address")
		}
		return nil
	})
	s.workWith(e, o)
	s.until("the dead event", func() bool { return len(s.deadJobs()) == 1 })
	var woken atomic.Int64
	stop, err := s.backend.Live.Subscribe(context.Background(), store.JobsTopic,
		func(store.WakeKind, []byte) { woken.Add(1) })
	if err != nil {
		s.Fatal(err)
	}
	defer stop()
	begin := s.now()
	r, err := e.Redrive(context.Background(), chat.Tenant, s.deadJobs()[0].JobID)
	if err != nil || !r.Accepted {
		s.Errorf("the redrive: %+v, %v", r, err)
	}
	s.until("the event", func() bool { return len(box.read()) == 2 })
	if took := s.now().Sub(begin); took > time.Minute {
		s.Errorf("it took %s, and nothing but a wake-up is sooner than an hour", took)
	}
	if woken.Load() > 0 {
		s.Error("the workers of runs were woken")
	}
}

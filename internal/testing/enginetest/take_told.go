package enginetest

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// silent is a live part whose wake-ups reach nobody.
type silent struct{ store.Live }

func (silent) Wake(spool.ThreadKey, store.WakeKind, []byte) {}

// claimedTold returns the runs that were claimed together with their ticket.
func (t *takenStore) claimedTold() []spool.RunID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.told)
}

// testTakeTold tells a worker of the tickets of another process's runs, more than once. It claims each run once, with
// its ticket, and the model gets the whole conversation.
func testTakeTold(s takeTest) {
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Say("one"), spooltest.Say("two"))
	c := s.config(m)
	e := s.taker(c, engine.WorkOptions{})
	b := s.join()
	live := b.Live
	b.Live = silent{live}
	starter := s.over(b, c)
	for i, run := range []spool.RunID{"r1", "r2"} {
		<-time.After(100 * time.Millisecond) // a wake-up may come late, and no poll must come before it
		s.start(starter, run, "go "+string(run))
		jobs, err := s.backend.Store.Jobs(context.Background(), wire.JobQuery{Tenant: chat.Tenant, ThreadID: chat.ID})
		if err != nil {
			s.Fatal(err)
		}
		for _, j := range slices.Concat(jobs, jobs) {
			live.Wake(store.JobsTopic, store.WakeJobs, store.TicketNotice(j.Job))
		}
		s.until("the end", func() bool { return s.run(run).State == wire.Completed })
		<-time.After(still)
		if got := e.store.claimedTold(); len(got) != i+1 || got[i] != run {
			s.Errorf("the worker has claimed %q with their tickets, want %s as the last one", got, run)
		}
		if e.store.taken(run) {
			s.Errorf("the start has claimed the run %s", run)
		}
		if r := s.run(run); r.Segments != 1 || r.Deaths != 0 {
			s.Errorf("the run %s has %d segments and %d deaths", run, r.Segments, r.Deaths)
		}
	}
	if got := m.Requests()[2].Messages; len(got) != 3 {
		s.Errorf("the model was asked with %d messages, want 3: %+v", len(got), got)
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished", "RUN_STARTED r2:1",
		"RUN_ENDED r2:1 finished")
	if q := s.jobs(); q.InFlight+q.Ready+q.Delayed+q.Dead != 0 {
		s.Errorf("jobs are left: %+v", q)
	}
}

// testTakeToldOfNone tells a worker of tickets that do not exist: of a run whose start was rolled back, of one that has
// ended, and what is no ticket. Nothing changes, and the worker goes on.
func testTakeToldOfNone(s takeTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("first"), spooltest.Say("hi")))
	e := s.taker(c, engine.WorkOptions{})
	s.start(e.Engine, "r1", "go")
	s.ended(wire.Completed)
	<-time.After(still)
	before := s.record()
	live := s.join().Live
	none := wire.Job{
		Tenant: chat.Tenant, ThreadID: chat.ID, RunID: "r1", Agent: s.run("r1").Agent, Kind: wire.JobStart, Segment: 1,
		Key: "run:r1:1",
	}
	other := none
	other.ThreadID, other.RunID, other.Key = "none", "none", "run:none:1"
	for _, notice := range [][]byte{
		store.TicketNotice(none), store.TicketNotice(other), []byte("{"), []byte("null"), []byte(`{"runId":"r1"}`),
	} {
		live.Wake(store.JobsTopic, store.WakeJobs, notice)
	}
	<-time.After(still)
	if got := e.store.claimedTold(); len(got) != 0 {
		s.Errorf("the worker has claimed %q", got)
	}
	s.lines("record", s.record(), before...)
	if q := s.jobs(); q.InFlight+q.Ready+q.Delayed+q.Dead != 0 {
		s.Errorf("jobs are left: %+v", q)
	}
}

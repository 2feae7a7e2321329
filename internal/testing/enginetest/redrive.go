package enginetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// redriveTest is the fixture of the cases about dead jobs and their redrive.
type redriveTest struct{ *engineTest }

var redriveTests = map[string]func(s redriveTest){
	"Start":      testRedriveStart,
	"GoesOn":     testRedriveGoesOn,
	"Parked":     testRedriveParked,
	"Refused":    testRedriveRefused,
	"Settle":     testRedriveSettle,
	"OnlyOnce":   testRedriveOnlyOnce,
	"StoreFails": testRedriveStoreFails,
}

// die makes the next job of the queues die, as when a worker gives it up.
func (s redriveTest) die(e *engine.Engine, queues ...string) int64 {
	s.Helper()
	ctx := context.Background()
	var dead store.Delivery
	s.until("a job", func() bool {
		taken, _, err := s.backend.Store.Claim(ctx, store.ClaimQuery{Limit: 1, Lease: time.Minute, Queues: queues})
		if err != nil || len(taken) == 0 {
			return false
		}
		dead = taken[0]
		return true
	})
	if err := e.HandleDeadJob(ctx, dead.Job, dead.Attempt, "given up"); err != nil {
		s.Fatal(err)
	}
	if err := s.backend.Store.Ack(ctx, dead, store.Ack{Kind: store.AckDead, Cause: "given up"}); err != nil {
		s.Fatal(err)
	}
	return dead.JobID
}

func (s redriveTest) redrive(e *engine.Engine, job int64) wire.RedriveResult {
	s.Helper()
	result, err := e.Redrive(context.Background(), chat.Tenant, job)
	if err != nil {
		s.Fatalf("redrive: %v", err)
	}
	if result.Accepted {
		s.history.Started(chat, result.RunID)
	}
	return result
}

// testRedriveStart has a run that never began: a new run answers its turn.
func testRedriveStart(s redriveTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", StartOptions: wire.StartOptions{MaxSteps: 7}})
	job := s.die(e)
	s.ended(wire.Failed)
	result := s.redrive(e, job)
	if !result.Accepted || result.JobID != job || result.ThreadID != chat.ID || result.RunID == "" ||
		result.RunID == "r1" {
		s.Fatalf("redrive: %+v", result)
	}
	s.same("dead jobs", len(s.deadJobs()), 0)
	next := s.run(result.RunID)
	if next.Agent != "a" || next.Model != "m" || next.MaxSteps != 7 || next.EnqueuedAt.IsZero() ||
		next.QueuePosition != 0 {
		s.Errorf("the run: %+v", next)
	}
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant hi")
	if failed := s.run("r1"); failed.State != wire.Failed {
		s.Errorf("the failed run: %+v", failed)
	}
	if again := s.redrive(e, job); again.Accepted || again.Reason != wire.ReasonNotFound {
		s.Errorf("a second redrive: %+v", again)
	}
}

// testRedriveGoesOn has a run that fails after a step: the step is not repeated.
func testRedriveGoesOn(s redriveTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
		spooltest.Turn{Err: errors.New("overloaded")}, spooltest.Say("done"))
	e := s.engine(s.config(m, plain("look", "1")))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.until("the failure", func() bool { return s.thread().State == wire.Queued && m.Asked() == 2 })
	stop()
	job := s.die(e)
	s.ended(wire.Failed)
	result := s.redrive(e, job)
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=look{}", "tool c1:1", "assistant done")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 error",
		"RUN_STARTED "+string(result.RunID)+":1", "RUN_ENDED "+string(result.RunID)+":1 finished")
	if s.executed() != 1 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// testRedriveParked has a run that dies before it resumes: the model reads that the call, which has not
// run, failed.
func testRedriveParked(s redriveTest) {
	e := s.engine(s.config(sending(), approved("send", "1")))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	s.answer(e, "c1", true, "")
	job := s.die(e)
	s.ended(wire.Failed)
	if result := s.redrive(e, job); !result.Accepted {
		s.Fatalf("redrive: %+v", result)
	}
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"cancelled":true,"reason":"failed"}`, "assistant done")
	if s.executed() != 0 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// testRedriveRefused has dead jobs for which nothing is left to do.
func testRedriveRefused(s redriveTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"), spooltest.Say("hi again"))))
	s.start(e, "r1", "go")
	job := s.die(e)
	refused := func(what string, tenant spool.Tenant, id int64, reason string) {
		s.Helper()
		before := s.all(chat, "r1")
		result, err := e.Redrive(context.Background(), tenant, id)
		if err != nil || result.Accepted || result.Reason != reason || result.Error == "" || result.RunID != "" {
			s.Errorf("%s: %+v, %v", what, result, err)
		}
		s.same(what, s.all(chat, "r1"), before)
		s.same(what+": dead jobs", len(s.deadJobs()), 1)
	}
	refused("no such job", chat.Tenant, job+1, wire.ReasonNotFound)
	refused("another tenant's", "other", job, wire.ReasonNotFound)
	s.start(e, "r2", "and")
	refused("another run has the thread", chat.Tenant, job, wire.ReasonActiveRun)
	stop := s.work(e)
	s.ended(wire.Completed)
	stop()
	refused("a later run has ended", chat.Tenant, job, wire.ReasonMovedOn)
}

// testRedriveSettle has a dead settlement: the hook is called again.
func testRedriveSettle(s redriveTest) {
	var mu sync.Mutex
	broken, calls := true, 0
	c := s.config(spooltest.NewModel(spooltest.Say("hi")))
	c.OnSettle = func(context.Context, wire.Settlement) error {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if broken {
			return errors.New("the ledger is closed")
		}
		return nil
	}
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	stop()
	job := s.die(e)
	if !s.run("r1").SettledAt.IsZero() {
		s.Fatal("the run is settled")
	}
	without := c
	without.OnSettle = nil
	if result := s.redrive(s.engine(without), job); result.Accepted || result.Reason != wire.ReasonMovedOn {
		s.Errorf("without a hook: %+v", result)
	}
	mu.Lock()
	broken = false
	mu.Unlock()
	if result := s.redrive(e, job); !result.Accepted || result.RunID != "r1" {
		s.Errorf("redrive: %+v", result)
	}
	s.work(e)
	s.until("the settlement", func() bool { return !s.run("r1").SettledAt.IsZero() })
	s.same("dead jobs", len(s.deadJobs()), 0)
}

// testRedriveOnlyOnce redrives one job many times at once: only one new run starts.
func testRedriveOnlyOnce(s redriveTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.start(e, "r1", "go")
	job := s.die(e)
	results := make(chan wire.RedriveResult, 8)
	for range cap(results) {
		go func() {
			result, err := e.Redrive(context.Background(), chat.Tenant, job)
			if err != nil {
				s.Error(err)
			}
			results <- result
		}()
	}
	accepted := 0
	for range cap(results) {
		switch result := receive(s, results, bubbleWait, "a result"); {
		case result.Accepted:
			accepted++
			s.history.Started(chat, result.RunID)
		case result.Reason != wire.ReasonNotFound:
			s.Errorf("refused with %+v", result)
		}
	}
	s.same("accepted", accepted, 1)
	s.same("runs", len(s.runsOf(chat)), 2)
	s.work(e)
	s.ended(wire.Completed)
}

// testRedriveStoreFails lets each call of a redrive fail in each way. After retries there is one new
// run, and no job is lost.
func testRedriveStoreFails(s redriveTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"), spooltest.Say("3"), spooltest.Say("4"),
		spooltest.Say("5"), spooltest.Say("6")))
	for _, kind := range []spooltest.FaultKind{spooltest.FailBefore, spooltest.FailAfter, spooltest.Rerun} {
		for call := 1; call <= 2; call++ {
			s.start(s.engine(c), "", "go")
			job := s.die(s.engine(c))
			failed := s.thread().RunID
			f := spooltest.NewFaulty(s.join())
			f.Plan(spooltest.Fault{Call: call, Kind: kind})
			e := s.over(f.Backend(), c)
			var result wire.RedriveResult
			for try := 0; ; try++ {
				var err error
				if result, err = e.Redrive(context.Background(), chat.Tenant, job); err == nil {
					break
				}
				if spool.CodeOf(err) != spool.Unavailable || try > 0 {
					s.Fatalf("%s of call %d: %v", kind, call, err)
				}
			}
			// If the outcome was unknown, the redrive has happened, and cannot happen again.
			if result.Accepted == (kind == spooltest.FailAfter && call == 2) {
				s.Errorf("%s of call %d: %+v", kind, call, result)
			}
			thread := s.thread()
			if thread.State != wire.Queued || thread.RunID == failed || len(s.deadJobs()) != 0 {
				s.Errorf("%s of call %d: the thread is %+v", kind, call, thread)
			}
			s.history.Started(chat, thread.RunID)
			stop := s.work(s.engine(c))
			s.ended(wire.Completed)
			stop()
		}
	}
}

package enginetest

import (
	"context"
	"time"

	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// sweepTest is the fixture of the cases about the sweeper.
type sweepTest struct{ *engineTest }

var sweepTests = map[string]func(s sweepTest){
	"QueuedWithoutJob":  testSweepQueued,
	"RunningWithoutJob": testSweepRunning,
	"ExpiryLost":        testSweepExpiryLost,
	"ResumeLost":        testSweepResumeLost,
	"LeavesAlone":       testSweepLeavesAlone,
}

// loseJobs removes all jobs from the queue, due or not.
func (s sweepTest) loseJobs() (n int) {
	s.Helper()
	for {
		taken, next, err := s.backend.Store.Claim(context.Background(), store.ClaimQuery{Limit: 100, Lease: time.Minute})
		if err != nil {
			s.Fatal(err)
		}
		for _, d := range taken {
			n++
			if err := s.backend.Store.Ack(context.Background(), d, store.Ack{Kind: store.AckDone}); err != nil {
				s.Error(err)
			}
		}
		switch {
		case len(taken) > 0:
		case next.IsZero():
			return n
		default:
			<-time.After(next.Sub(s.now()))
		}
	}
}

func testSweepQueued(s sweepTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	s.start(e, "r1", "go")
	if n := s.loseJobs(); n != 1 {
		s.Errorf("%d jobs were lost", n)
	}
	report, err := e.Sweep(context.Background())
	if err != nil || report.Checked != 1 || report.Redispatched != 1 || report.Errors != 0 {
		s.Errorf("sweep: %+v, %v", report, err)
	}
	if report, err := e.Sweep(context.Background()); err != nil || report.Checked != 0 {
		s.Errorf("the second sweep: %+v, %v", report, err)
	}
	s.loseJobs()
	begin := time.Now()
	s.work(e) // the worker sweeps by itself
	s.ended(wire.Completed)
	if took := time.Since(begin); took > 10*time.Second {
		s.Errorf("it took %s", took)
	}
}

func testSweepRunning(s sweepTest) {
	m := spooltest.NewModel(spooltest.Turn{Text: []string{"half"}, Gate: make(chan struct{})}, spooltest.Say("whole"))
	c := s.config(m)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 1 })
	p.kill()
	killed := time.Now()
	s.loseJobs()
	s.working(c)
	s.ended(wire.Completed)
	if took := time.Since(killed); took > 40*time.Second {
		s.Errorf("it took %s", took)
	}
}

func testSweepExpiryLost(s sweepTest) {
	e := s.engine(s.config(sending(), approved("send", "1")))
	stop := s.work(e)
	begin := time.Now()
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	s.loseJobs() // this takes until the expiry
	s.work(e)
	s.ended(wire.Completed)
	if took := time.Since(begin); took > 16*time.Minute {
		s.Errorf("it took %s", took)
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "INPUT_REQUIRED c1 approval", "RUN_ENDED r1:1 parked",
		"INPUT_EXPIRING c1", "INPUT_EXPIRED c1", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

func testSweepResumeLost(s sweepTest) {
	e := s.engine(s.config(sending(), approved("send", "1")))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	s.answer(e, "c1", true, "")
	s.loseJobs()
	s.work(e)
	s.ended(wire.Completed)
	if s.executed() != 1 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

func testSweepLeavesAlone(s sweepTest) {
	e := s.engine(s.config(sending(), approved("send", "1")))
	none := func(what string) {
		s.Helper()
		before := s.all(chat, "r1")
		if report, err := e.Sweep(context.Background()); err != nil || report.Redispatched != 0 || report.Errors != 0 {
			s.Errorf("%s: %+v, %v", what, report, err)
		}
		s.same(what, s.all(chat, "r1"), before)
	}
	none("nothing")
	s.start(e, "r1", "go")
	none("queued")
	stop := s.work(e)
	s.becomes(wire.WaitingForInput)
	none("parked")
	stop()
	s.answer(e, "c1", true, "")
	none("answered")
	s.work(e)
	s.ended(wire.Completed)
	none("ended")
}

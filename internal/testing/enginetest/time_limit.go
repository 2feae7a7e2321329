package enginetest

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var timeLimitTests = map[string]func(s budgetTest){
	"Default":   testTimeLimitDefault,
	"Segments":  testTimeLimitSegments,
	"People":    testTimeLimitPeople,
	"NotRaised": testTimeLimitNotRaised,
	"Nested":    testTimeLimitNested,
}

// endless returns a model whose first answer does not end by itself.
func endless() *spooltest.Model {
	return spooltest.NewReplayModel(spooltest.Turn{Text: []string{"so far"}, Gate: make(chan struct{})})
}

// limited waits until the limit has ended the run, and checks the record.
func (s budgetTest) limited(limit time.Duration) {
	s.Helper()
	var told wire.TimeLimitReached
	s.endsBy(wire.StopTimeLimit, wire.EntryTimeLimitReached, &told)
	if told.WallTimeLimitMS != limit.Milliseconds() || told.WallTimeMS < limit.Milliseconds() {
		s.Errorf("the record tells %+v", told)
	}
	if got := s.run("r1"); !got.WorkerSince.IsZero() || got.WallTime < limit || got.WallTime > limit+5*time.Second {
		s.Errorf("the run executed %+v", got)
	}
}

func testTimeLimitDefault(s budgetTest) {
	m := endless()
	e := s.working(s.config(m))
	begin := time.Now()
	s.start(e, "r1", "go")
	<-time.After(59 * time.Minute)
	if state := s.thread().State; state != wire.Running {
		s.Errorf("the run is %s within its hour", state)
	}
	s.limited(time.Hour)
	if took := time.Since(begin); took > time.Hour+5*time.Second {
		s.Errorf("it took %s", took)
	}
	s.lines("messages", s.script(), "user go", "assistant so far")
}

// testTimeLimitSegments adds up the time of several workers, one of which dies.
func testTimeLimitSegments(s budgetTest) {
	m := endless()
	c := s.config(m)
	c.Limits.WallTime = time.Minute
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	<-time.After(20 * time.Second)
	stop()
	if got := s.run("r1").WallTime; got < 19*time.Second || got > 21*time.Second {
		s.Errorf("the run executed for %s", got)
	}
	<-time.After(time.Minute) // without a worker
	p := s.process(c)
	<-time.After(10 * time.Second)
	p.kill()
	s.working(c)
	s.limited(time.Minute)
	if n := s.run("r1").Segments; n != 3 {
		s.Errorf("the run had %d segments", n)
	}
}

// testTimeLimitPeople does not count the time in which the run waits for an answer.
func testTimeLimitPeople(s budgetTest) {
	c := s.config(sending(), approved("send", `"sent"`))
	c.Limits.WallTime = time.Minute
	e := s.working(c)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	<-time.After(10 * time.Minute)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	if r := s.run("r1"); r.StopReason != wire.StopCompleted || r.WallTime > 10*time.Second {
		s.Errorf("the run ended by %s, executed for %s", r.StopReason, r.WallTime)
	}
}

// testTimeLimitNotRaised has a run that would park for a larger budget: nobody can raise the limit, so
// it ends.
func testTimeLimitNotRaised(s budgetTest) {
	m := endless()
	c := s.asksForMore(spool.Budget{WallTime: time.Minute}, m)
	c.Limits.WallTime = 30 * time.Second
	s.start(s.working(c), "r1", "go")
	s.limited(30 * time.Second)
	s.lines("messages", s.script(), "user go", "assistant so far")
}

// testTimeLimitNested ends a tree by the limit.
func testTimeLimitNested(s budgetTest) {
	c := nestedTest(s).late()
	c.Budget.Default, c.Limits.WallTime = spool.Budget{}, 10*time.Second
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	reasons := []wire.StopReason{s.run("r1").StopReason}
	for _, run := range nestedTest(s).nested() {
		reasons = append(reasons, run.StopReason)
	}
	if len(reasons) != 4 || slices.ContainsFunc(reasons, func(r wire.StopReason) bool { return r != wire.StopTimeLimit }) {
		s.Errorf("the runs ended by %v", reasons)
	}
	s.wellFormed()
}

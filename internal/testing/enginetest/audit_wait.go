package enginetest

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// busyAs starts a run as the subject, with a policy for busy threads.
func (s auditTest) busyAs(e *engine.Engine, by string, run spool.RunID, w spool.WhenBusy) {
	s.Helper()
	s.startAs(e, chat, wire.StartRequest{Prompt: string(run), RunID: run, WhenBusy: w, By: by})
}

// A start that supersedes waiting runs is logged as a stop of each of them.
func testAuditLatest(s auditTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("done"), spooltest.Say("done"))))
	s.start(e, "r1", "go")
	s.busyAs(e, "alice", "r2", spool.BusyEnqueue)
	s.busyAs(e, "bert", "r3", spool.BusyEnqueue)
	r, err := e.Run(context.Background(), chat, wire.StartRequest{
		Prompt: "mine", RunID: "r4", WhenBusy: spool.BusyLatest, By: "bert", MayNotStop: true,
	})
	if err != nil || r.Position != 2 {
		s.Errorf("a start in the place of one's own: %+v, %v", r, err)
	}
	s.history.Started(chat, "r4")
	s.lines("the log", s.acts(), "stop by bert r3")
	s.busyAs(e, "root", "r5", spool.BusyLatest)
	s.lines("the log", s.acts(), "stop by bert r3", "stop by root r2", "stop by root r4")
	for _, entry := range s.auditLog(chat.Tenant) {
		if entry.ThreadID != chat.ID || entry.At.IsZero() {
			s.Errorf("%+v", entry)
		}
	}
	s.work(e)
	s.ended(wire.Completed)
	s.same("the runs", waitTest(s).states(), "r1 COMPLETED, r2 CANCELLED, r3 CANCELLED, r4 CANCELLED, r5 COMPLETED")
}

// deafAtWork returns an engine whose run r1 notices no stop until gate is closed.
func (s auditTest) deafAtWork() (e *engine.Engine, gate chan struct{}) {
	s.Helper()
	gate = make(chan struct{})
	m := deaf(gate)
	e = s.working(s.config(m))
	s.start(e, "r1", "one!")
	s.until("the question", func() bool { return m.Asked() == 1 })
	return e, gate
}

// A rollback stops the run that has interrupted another run but has not begun yet.
func testAuditRollback(s auditTest) {
	e, gate := s.deafAtWork()
	s.busyAs(e, "alice", "r2", spool.BusyInterrupt)
	s.busyAs(e, "bert", "r3", spool.BusyRollback)
	close(gate)
	s.ended(wire.Completed)
	s.same("the runs", waitTest(s).states(), "r1 CANCELLED, r2 CANCELLED, r3 COMPLETED")
	s.lines("the log", s.acts(), "stop by alice r1", "stop by bert r2")
}

// Each run that an interrupt stops is logged once, even if its user turn is still added.
func testAuditInterruptsInARow(s auditTest) {
	e, gate := s.deafAtWork()
	s.busyAs(e, "alice", "r2", spool.BusyInterrupt)
	s.busyAs(e, "bert", "r3", spool.BusyInterrupt)
	s.busyAs(e, "carol", "r4", spool.BusyInterrupt)
	close(gate)
	s.ended(wire.Completed)
	s.same("the runs", waitTest(s).states(), "r1 CANCELLED, r2 CANCELLED, r3 CANCELLED, r4 COMPLETED")
	s.lines("the log", s.acts(), "stop by alice r1", "stop by bert r2", "stop by carol r3")
}

// A second stop of a run by another subject is not logged.
func testAuditStopAgain(s auditTest) {
	e, gate := s.deafAtWork()
	s.busyAs(e, "alice", "r2", spool.BusyInterrupt)
	s.busyAs(e, "bert", "r3", spool.BusyInterrupt)
	stop := func(by string, stop func(ctx context.Context) (wire.StopResult, error)) {
		s.Helper()
		if r, err := stop(as(by)); !r.Accepted || err != nil {
			s.Fatalf("stop by %s: %+v, %v", by, r, err)
		}
	}
	stop("carol", func(ctx context.Context) (wire.StopResult, error) { return e.StopRun(ctx, chat, "r1") })
	stop("dora", func(ctx context.Context) (wire.StopResult, error) { return e.Stop(ctx, chat) })
	stop("emil", func(ctx context.Context) (wire.StopResult, error) { return e.Stop(ctx, chat) })
	close(gate)
	s.ended(wire.Cancelled)
	s.same("the runs", waitTest(s).states(), "r1 CANCELLED, r2 CANCELLED, r3 CANCELLED")
	s.lines("the log", s.acts(), "stop by alice r1", "stop by bert r2", "stop by dora r3")
}

// If the thread's run has ended except for its settle hook, a stop stops only the waiting runs.
func testAuditStopDecided(s auditTest) {
	gate, settling := make(chan struct{}), make(chan struct{}, 1)
	c := s.config(spooltest.NewModel(spooltest.Say("done")))
	c.OnSettle = func(_ context.Context, t wire.Settlement) error {
		if t.RunID == "r1" {
			settling <- struct{}{}
			<-gate
		}
		return nil
	}
	e := s.working(c)
	s.start(e, "r1", "go")
	receive(s, settling, bubbleWait, "the settle hook")
	s.busyAs(e, "alice", "r2", spool.BusyEnqueue)
	if r, err := e.Stop(as("anna"), chat); !r.Accepted || err != nil {
		s.Fatalf("stop: %+v, %v", r, err)
	}
	s.lines("the log", s.acts(), "stop by anna r2")
	close(gate)
	s.ended(wire.Completed)
	s.same("the runs", waitTest(s).states(), "r1 COMPLETED, r2 CANCELLED")
}

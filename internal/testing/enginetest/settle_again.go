package enginetest

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// unsettled stops the run r1 before it begins, with an engine that has no settle hook, and claims its
// settlement for a while. It returns the engine that has the hook.
func (s settleTest) unsettled(claim time.Duration) (*engine.Engine, *settlements) {
	s.Helper()
	c, h := s.settling(spooltest.NewModel())
	h.err = func(int) error { return nil }
	without := c
	without.OnSettle = nil
	bare := s.engine(without)
	s.start(bare, "r1", "go")
	s.stop(bare)
	s.change(func(r *store.RunRow, now time.Time) { r.SettleClaim = now.Add(claim) })
	return s.engine(c), h
}

// change changes the run r1, as another process may.
func (s settleTest) change(fn func(r *store.RunRow, now time.Time)) {
	s.Helper()
	err := s.backend.Store.Update(context.Background(), chat, 0, func(tx store.Tx) error {
		r, err := store.FindRun(tx, "r1")
		if err != nil {
			return err
		}
		fn(&r, tx.Now())
		return tx.Write(store.Changes{Runs: []store.RunRow{r}})
	})
	if err != nil {
		s.Fatal(err)
	}
}

// settles delivers a settlement late.
func (s settleTest) settles(e *engine.Engine, run spool.RunID) wire.JobResult {
	s.Helper()
	j := ticket(run)
	j.Kind = wire.JobSettle
	r, err := e.HandleJob(context.Background(), j)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// testSettleClaimed delivers a settlement that another worker has begun: it is delivered again when the
// other worker's time is over, and the hook is not called before.
func testSettleClaimed(s settleTest) {
	const claim = 7 * time.Minute
	e, h := s.unsettled(claim)
	if r := s.settles(e, "r1"); r.Accepted || r.RetryAfter != claim || len(h.calls) != 0 ||
		!s.run("r1").SettledAt.IsZero() {
		s.Errorf("within the claim: %+v, settlements: %+v", r, h.calls)
	}
	<-time.After(claim - time.Second)
	if r := s.settles(e, "r1"); r.Accepted || len(h.calls) != 0 {
		s.Errorf("at the end of the claim: %+v, settlements: %+v", r, h.calls)
	}
	<-time.After(time.Second)
	if r := s.settles(e, "r1"); !r.Accepted {
		s.Errorf("after the claim: %+v", r)
	}
	h.once(wire.Cancelled, wire.StopCancelled)
}

// testSettleAgain delivers a settlement again, and a settlement of a run that has not ended.
func testSettleAgain(s settleTest) {
	e, h := s.unsettled(0)
	for i := range 3 {
		if r := s.settles(e, "r1"); !r.Accepted {
			s.Errorf("delivery %d: %+v", i+1, r)
		}
		h.once(wire.Cancelled, wire.StopCancelled)
	}
	s.start(e, "r2", "more")
	if r := s.settles(e, "r2"); !r.Accepted || len(h.calls) != 1 || !s.run("r2").SettledAt.IsZero() {
		s.Errorf("a run that has not ended: %+v, settlements: %+v", r, h.calls)
	}
}

package enginetest

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// perInput prices 2 for each input token, also of an answer that did not end.
func perInput(c price.Charge) (spool.Cost, error) {
	if c.Usage.Input == nil {
		return spool.Cost{}, spool.Errorf(spool.NotFound, "not counted")
	}
	return spool.Cost{Micros: 2 * *c.Usage.Input, Currency: "USD", Source: spool.CostEstimate, Version: "7"}, nil
}

// testBackgroundSettled stops a run between two segments, while its provider has an answer that nobody will ask for
// again. The settle hook is told what that answer costs.
func testBackgroundSettled(s backgroundTest) {
	m := spooltest.NewModel(background("one", overloaded()))
	h := &settlements{s: s.engineTest}
	c := s.config(m)
	c.Pricer, c.OnSettle = pricer(perInput), h.hook
	e := s.working(c)
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", Budget: spool.Budget{Tokens: 100_000}})
	s.until("the first failure", func() bool { return s.run("r1").Attempts == 1 })
	s.stop(e)
	s.ended(wire.Cancelled)
	h.once(wire.Cancelled, wire.StopCancelled)
	s.attempts("aborted 1 ~")
	rows, run := s.usage(wire.UsageQuery{}), s.run("r1")
	if len(rows) != 1 || rows[0].Cost == nil || rows[0].Cost.Micros == 0 {
		s.Fatalf("the ledger has %+v", rows)
	}
	want := []wire.Money{{Currency: rows[0].Cost.Currency, Micros: rows[0].Cost.Micros}}
	s.same("the costs of the run", run.Costs(), want)
	s.same("the costs that the hook was told", h.calls[0].Costs, want)
	if spent := run.Allowance.Spent; spent.CostMicros != want[0].Micros || len(run.Allowance.Reservations) > 0 {
		s.Errorf("the allowance is %+v", run.Allowance)
	}
}

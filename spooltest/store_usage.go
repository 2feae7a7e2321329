package spooltest

import (
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testStoreUsage(s *storeTest) {
	key := thread("t")
	n := func(n int64) *int64 { return &n }
	row := func(agent, model string, input int64) wire.UsageRow {
		return wire.UsageRow{
			RunID: "r", AgentID: spool.AgentID(agent), Agent: "agent " + agent, Step: 2, Model: model, ModelID: model + "-1",
			Requested: model, Outcome: wire.OutcomeFinished, Kind: spool.UsageStep,
			Usage: spool.Usage{Input: n(input), CacheRead: n(2), CacheWrite: n(3), Output: n(4), Reasoning: n(5)},
		}
	}
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Idle},
			Usage:  []wire.UsageRow{row("z", "b", 10), row("", "a", 20), row("z", "b", 30)},
		})
	})
	s.clock.Advance(time.Second)
	newest := row("z", "a", 40)
	newest.CreatedAt = s.clock.Now()
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{Usage: []wire.UsageRow{row("", "a", 50), row("z", "a", 40)}})
	})

	line := func(agent, model string, input, calls int64) wire.UsageLine {
		l := wire.UsageLine{
			AgentName: "agent " + agent, Model: model, ModelID: model + "-1", InputTokens: input, Calls: calls,
			CacheReadInputTokens: 2 * calls, CacheWriteInputTokens: 3 * calls, OutputTokens: 4 * calls,
			ReasoningTokens: 5 * calls,
		}
		if agent != "" {
			id := spool.AgentID(agent)
			l.AgentID = &id
		}
		return l
	}
	c := s.all(key, "")
	s.same("lines", c.Usage, []wire.UsageLine{line("z", "b", 40, 2), line("", "a", 70, 2), line("z", "a", 40, 1)})
	s.same("newest row", c.Newest, newest)
	s.same("lines of another thread", s.all(thread("t2"), "").Usage, []wire.UsageLine{})
}

func testStoreUsageNotReported(s *storeTest) {
	key := thread("t")
	row := wire.UsageRow{RunID: "r", Agent: "a", Model: "m", Outcome: wire.OutcomeAborted}
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, Usage: []wire.UsageRow{row}})
	})
	row.CreatedAt, row.Kind = s.clock.Now(), spool.UsageStep
	c := s.all(key, "")
	s.same("newest row", c.Newest, row)
	s.same("lines", c.Usage, []wire.UsageLine{{AgentName: "a", Model: "m", Calls: 1}})
}

func testStoreUsageCosts(s *storeTest) {
	key := thread("t")
	n := func(n int64) *int64 { return &n }
	row := func(cost *spool.Cost) wire.UsageRow {
		return wire.UsageRow{RunID: "r", Agent: "a", Model: "m", Usage: spool.Usage{Input: n(1)}, Cost: cost}
	}
	guessed := wire.UsageRow{
		RunID: "r", Agent: "a", Kind: spool.UsageCompaction, Model: "m", Outcome: wire.OutcomeLost,
		Guess: spool.Usage{Input: n(8), Output: n(0)},
		Cost:  &spool.Cost{Micros: 5, Currency: "EUR", Source: spool.CostEstimate, Version: "2"},
	}
	free := row(&spool.Cost{Currency: "EUR", Source: spool.CostTable, Version: "1"})
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Idle},
			Usage: []wire.UsageRow{
				free, row(nil), row(&spool.Cost{Micros: 4, Currency: "USD", Source: spool.CostReceipt}), guessed, guessed,
			},
		})
	})
	c := s.all(key, "")
	line := wire.UsageLine{AgentName: "a", Model: "m", InputTokens: 1, Calls: 1}
	euro, dollar := line, line
	euro.Currency, euro.CostMicros, euro.Calls = "EUR", 10, 3
	euro.Estimated, euro.EstimatedInputTokens = 2, 16
	dollar.Currency, dollar.CostMicros = "USD", 4
	s.same("lines", c.Usage, []wire.UsageLine{euro, line, dollar})
	guessed.CreatedAt = s.clock.Now()
	s.same("newest row", c.Newest, guessed)

	totals := wire.Totals(c.Usage)
	s.same("what it cost in the first currency",
		[]any{totals.Currency, totals.CostMicros, totals.Unpriced, totals.InputTokens},
		[]any{"EUR", int64(10), int64(2), int64(3)})
	s.same("what it cost", totals.Costs, []wire.CurrencyCost{
		{Currency: "EUR", CostMicros: 10, Calls: 3}, {Currency: "USD", CostMicros: 4, Calls: 1},
	})
	s.read(key, func(v store.View) error {
		report, err := v.Usage(wire.UsageQuery{Limit: 2})
		free.CreatedAt, free.Kind = s.clock.Now(), spool.UsageStep
		unpriced := row(nil)
		unpriced.CreatedAt, unpriced.Kind = s.clock.Now(), spool.UsageStep
		s.same("a row that is free and one without a price", report.Rows, []wire.UsageRow{free, unpriced})
		return err
	})
}

func testStoreUsageRows(s *storeTest) {
	key := thread("t")
	n := int64(1)
	main, child := spool.AgentID(""), spool.AgentID("c")
	row := func(run spool.RunID, agent spool.AgentID, kind spool.UsageKind, name string, input *int64) wire.UsageRow {
		return wire.UsageRow{RunID: run, AgentID: agent, Kind: kind, ModelID: name, Usage: spool.Usage{Input: input}}
	}
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Idle},
			Usage: []wire.UsageRow{
				row("r", "", spool.UsageStep, "a", &n), row("q", "", "", "b", nil), row("r", "c", spool.UsageCompaction, "c", nil),
				row("r", "", spool.UsageStep, "d", &n), row("r", "c", spool.UsageStep, "e", &n),
				row("r", "", spool.UsageTool, "f", nil),
			},
		})
	})
	for _, c := range []struct {
		q    wire.UsageQuery
		want string
	}{
		{wire.UsageQuery{}, "abcdef"},
		{wire.UsageQuery{Last: true}, "fedcba"},
		{wire.UsageQuery{Limit: 2}, "ab"},
		{wire.UsageQuery{Last: true, Limit: 2}, "fe"},
		{wire.UsageQuery{Run: "r"}, "acdef"},
		{wire.UsageQuery{Run: "nobody"}, ""},
		{wire.UsageQuery{Agent: &main}, "abdf"},
		{wire.UsageQuery{Agent: &child}, "ce"},
		{wire.UsageQuery{Kind: spool.UsageStep}, "abde"},
		{wire.UsageQuery{Counted: true}, "ade"},
		{wire.UsageQuery{Run: "r", Agent: &main, Kind: spool.UsageStep, Counted: true, Last: true, Limit: 1}, "d"},
	} {
		s.read(key, func(v store.View) error {
			report, err := v.Usage(c.q)
			if got := compare.Joined(report.Rows, func(r wire.UsageRow) string { return r.ModelID }); got != c.want {
				s.Errorf("rows of %+v: %q, want %q", c.q, got, c.want)
			}
			return err
		})
	}
	s.read(key, func(v store.View) error {
		report, err := v.Usage(wire.UsageQuery{Sums: true, Run: "nobody", Limit: 1})
		s.same("rows and sums", []int{len(report.Rows), len(report.Sums)}, []int{0, 6})
		rows, rowsErr := v.Usage(wire.UsageQuery{Limit: 1})
		s.same("rows without sums", []int{len(rows.Rows), len(rows.Sums)}, []int{1, 0})
		return errors.Join(err, rowsErr)
	})
	s.read(thread("t2"), func(v store.View) error {
		report, err := v.Usage(wire.UsageQuery{})
		s.same("rows of another thread", report.Rows, []wire.UsageRow{})
		return err
	})
}

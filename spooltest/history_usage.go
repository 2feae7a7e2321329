package spooltest

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// rows returns the rows of the ledger of a thread.
func (c *checker) rows(key spool.ThreadKey) (rows []wire.UsageRow) {
	for _, commit := range c.of(key) {
		rows = append(rows, commit.Usage...)
	}
	return rows
}

// usage checks that a run that has ended counts the usage of all its attempts, including failed and
// interrupted ones, and that a dispatched run also counts all runs nested in it.
func (c *checker) usage(where string, r store.RunRow) {
	if len(c.Commits) == 0 || !r.State.Terminal() {
		return
	}
	var want spool.TokenCount
	var spent wire.Spent
	cost := wire.Money{}
	for _, row := range c.rows(spool.ThreadKey{Tenant: r.Tenant, ID: r.ThreadID}) {
		if row.RunID != r.Root() || r.Depth > 0 && row.AgentID != r.AgentID() {
			continue
		}
		want.Add(row.Usage.Count())
		spent.Tokens += row.Best().Count().TotalTokens
		if row.Cost == nil || r.Depth > 0 {
			continue
		}
		if cost.Currency != "" && cost.Currency != row.Cost.Currency {
			c.wrongf("usage", where, "run %s is priced in %s and in %s", r.ID, cost.Currency, row.Cost.Currency)
		}
		cost.Currency = row.Cost.Currency
		cost.Micros += row.Cost.Micros
	}
	if r.TokenCount != want {
		c.wrongf("usage", where, "run %s counts %+v, and its ledger rows %+v", r.ID, r.TokenCount, want)
	}
	if r.Currency != cost.Currency || r.CostMicros != cost.Micros {
		c.wrongf("usage", where, "run %s cost %d %s, and its ledger rows %+v", r.ID, r.CostMicros, r.Currency, cost)
	}
	spent.CostMicros = cost.Micros
	c.allowance(where, r, spent)
}

// allowance checks that the budget of a run that has ended agrees with the ledger, and has no
// reservations left.
func (c *checker) allowance(where string, r store.RunRow, want wire.Spent) {
	a := r.Allowance
	if a == nil {
		return
	}
	if a.Spent.Tokens != want.Tokens || a.Spent.CostMicros != want.CostMicros {
		c.wrongf("budget", where, "run %s has spent %+v, and its ledger rows are %+v", r.ID, a.Spent, want)
	}
	if len(a.Reservations) > 0 || !a.Since.IsZero() {
		c.wrongf("budget", where, "run %s has ended and holds %+v, since %s", r.ID, a.Reservations, a.Since)
	}
}

// budgets checks that no commit leaves a run with more spent than its budget allows.
func (c *checker) budgets(n int, where string, r store.RunRow) {
	a := r.Allowance
	if a == nil || !c.Bounded {
		return
	}
	tokens, cost := a.Spent.Tokens, a.Spent.CostMicros
	for _, h := range a.Reservations {
		tokens += h.Tokens
		cost += h.CostMicros
	}
	for _, of := range []struct {
		what         string
		spent, bound int64
	}{
		{"tokens", tokens, a.Budget.Tokens},
		{"millionths", cost, a.Budget.CostMicros},
		{"tool calls", a.Spent.ToolCalls, a.Budget.ToolCalls},
	} {
		if of.bound > 0 && of.spent > of.bound {
			c.wrongf("budget", where, "commit %d leaves run %s with %d of %d %s spent or set aside", n, r.ID, of.spent, of.bound,
				of.what)
		}
	}
}

// ledger checks that the sums of the ledger equal the sums of its rows.
func (c *checker) ledger(where string, d ThreadDump) {
	if len(c.Commits) == 0 {
		return
	}
	var want []wire.UsageLine
	same := func(a, b wire.UsageLine) bool {
		return a.AgentName == b.AgentName && a.Model == b.Model && a.ModelID == b.ModelID && a.Currency == b.Currency &&
			(a.AgentID == nil) == (b.AgentID == nil) && (a.AgentID == nil || *a.AgentID == *b.AgentID)
	}
	for _, row := range c.rows(d.Thread.Key()) {
		line := wire.UsageLine{AgentName: row.Agent, Model: row.Model, ModelID: row.ModelID}
		if row.AgentID != "" {
			line.AgentID = &row.AgentID
		}
		if row.Cost != nil {
			line.Currency = row.Cost.Currency
		}
		at := slices.IndexFunc(want, func(other wire.UsageLine) bool { return same(line, other) })
		if at < 0 {
			at = len(want)
			want = append(want, line)
		}
		want[at].Add(row)
	}
	if !compare.Equal(d.Usage, want) {
		c.wrongf("usage", where, "the ledger sums up to %s and its rows to %s", compare.Dump(d.Usage), compare.Dump(want))
	}
}

// bill checks the usage in the last item of a run's stream.
func (v *view) bill(run spool.RunID, item wire.Item) {
	var of wire.StreamFinished
	if item.Type != wire.ItemRunFinished || item.Decode(&of) != nil || of.Usage == nil {
		return
	}
	for _, d := range v.Threads {
		for _, r := range d.Runs {
			if r.ID != run || d.Thread.Key() != v.Thread {
				continue
			}
			if *of.Usage != r.TokenCount || !slices.Equal(of.Costs, r.Costs()) {
				v.wrongf("usage", v.where, "run %s ends with %s, and has used %+v and %+v", run, item.Data, r.TokenCount, r.Costs())
			}
		}
	}
}

package postgres

import (
	"cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

// Usage implements [store.View].
func (v *view) Usage(q wire.UsageQuery) (report wire.UsageReport, err error) {
	if q.Sums {
		report.Sums = []wire.UsageLine{}
		err = v.query("SELECT "+form.UsageLineColumns+
			" FROM spool.usage_line WHERE tenant = ? AND thread_id = ? ORDER BY ord",
			eachForm(&report.Sums, form.ScanUsageLine), v.key.Tenant, v.key.ID)
		return report, err
	}
	report.Rows = []wire.UsageRow{}
	where := form.UsageConditions(v.key, q)
	query := "SELECT " + form.UsageColumns + " FROM spool.usage WHERE " + where.Text + " ORDER BY ord"
	if q.Last {
		query += " DESC"
	}
	err = v.query(query+" LIMIT ?", eachForm(&report.Rows, form.ScanUsage), append(where.Args, bound(q.Limit))...)
	return report, err
}

// addUsage adds a row to the ledger, and to its sums.
func (t *tx) addUsage(u *wire.UsageRow) {
	const last = "coalesce((SELECT ord FROM spool.usage WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0)"

	cost, micros := form.CostOf(u)
	estimated := 0
	if u.Estimated() {
		estimated = 1
	}
	c := u.Usage
	t.write("INSERT INTO spool.usage (tenant, thread_id, "+form.UsageColumns+", ord) VALUES (?, ?, "+
		places(form.UsageColumns)+", "+last+" + 1)",
		t.key.Tenant, t.key.ID, u.RunID, u.AgentID, u.Agent, string(cmp.Or(u.Kind, spool.UsageStep)), u.Step,
		u.Model, u.ModelID, string(u.Outcome), c.Input, c.CacheRead, c.CacheWrite, c.Output, c.Reasoning,
		u.Guess.Input, u.Guess.Output, micros, cost.Currency, string(cost.Source), cost.Version, t.now, u.Requested,
		t.key.Tenant, t.key.ID)
	t.write("INSERT INTO spool.usage_line AS sums (tenant, thread_id, "+form.UsageLineColumns+", ord) VALUES (?, ?, "+
		places(form.UsageLineColumns)+", "+last+`)
		ON CONFLICT (tenant, thread_id, agent_id, agent, model, model_id, currency) DO UPDATE SET
			input = sums.input + excluded.input, cache_read = sums.cache_read + excluded.cache_read,
			cache_write = sums.cache_write + excluded.cache_write, output = sums.output + excluded.output,
			reasoning = sums.reasoning + excluded.reasoning, calls = sums.calls + 1, estimated = sums.estimated + excluded.estimated,
			guess_input = sums.guess_input + excluded.guess_input, guess_output = sums.guess_output + excluded.guess_output,
			cost = sums.cost + excluded.cost`,
		t.key.Tenant, t.key.ID, u.AgentID, u.Agent, u.Model, u.ModelID, cost.Currency,
		orZero(c.Input), orZero(c.CacheRead), orZero(c.CacheWrite), orZero(c.Output), orZero(c.Reasoning), 1,
		estimated, orZero(u.Guess.Input), orZero(u.Guess.Output), cost.Micros,
		t.key.Tenant, t.key.ID)
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

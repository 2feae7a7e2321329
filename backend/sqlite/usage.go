package sqlite

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
		err = v.query("SELECT "+form.UsageLineColumns+" FROM usage_line WHERE tenant = ? AND thread_id = ? ORDER BY ord",
			each(&report.Sums, form.ScanUsageLine), v.key.Tenant, v.key.ID)
		return report, err
	}
	report.Rows, err = v.usageRows(q)
	return report, err
}

func (v *view) usageRows(q wire.UsageQuery) ([]wire.UsageRow, error) {
	table := "usage"
	if q.Run != "" {
		table = "usage INDEXED BY usage_run"
	}
	where := form.UsageConditions(v.key, q)
	query := "SELECT " + form.UsageColumns + " FROM " + table + " WHERE " + where.Text + " ORDER BY ord"
	if q.Last {
		query += " DESC"
	}
	rows := []wire.UsageRow{}
	err := v.query(query+" LIMIT ?", each(&rows, form.ScanUsage), append(where.Args, bound(q.Limit))...)
	return rows, err
}

// addUsage adds a row to the ledger. It updates the sums together with the ledger.
func (t *tx) addUsage(u *wire.UsageRow) error {
	const next = "coalesce((SELECT ord FROM usage WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0)"

	if err := t.needThread(); err != nil {
		return err
	}
	cost, micros := form.CostOf(u)
	estimated := 0
	if u.Estimated() {
		estimated = 1
	}
	c := u.Usage
	err := t.write("INSERT INTO usage (tenant, thread_id, "+form.UsageColumns+`, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, `+next+" + 1)",
		t.key.Tenant, t.key.ID, u.RunID, u.AgentID, u.Agent, string(cmp.Or(u.Kind, spool.UsageStep)), u.Step,
		u.Model, u.ModelID, string(u.Outcome), c.Input, c.CacheRead, c.CacheWrite, c.Output, c.Reasoning,
		u.Guess.Input, u.Guess.Output, micros, cost.Currency, string(cost.Source), cost.Version, t.now, u.Requested,
		t.key.Tenant, t.key.ID)
	if err != nil {
		return err
	}
	return t.write("INSERT INTO usage_line (tenant, thread_id, "+form.UsageLineColumns+`, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, coalesce(?, 0), coalesce(?, 0), coalesce(?, 0), coalesce(?, 0), coalesce(?, 0), 1,
			?, coalesce(?, 0), coalesce(?, 0), ?, `+next+`)
		ON CONFLICT (tenant, thread_id, agent_id, agent, model, model_id, currency) DO UPDATE SET
			input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
			cache_write = cache_write + excluded.cache_write, output = output + excluded.output,
			reasoning = reasoning + excluded.reasoning, calls = calls + 1, estimated = estimated + excluded.estimated,
			guess_input = guess_input + excluded.guess_input, guess_output = guess_output + excluded.guess_output,
			cost = cost + excluded.cost`,
		t.key.Tenant, t.key.ID, u.AgentID, u.Agent, u.Model, u.ModelID, cost.Currency,
		c.Input, c.CacheRead, c.CacheWrite, c.Output, c.Reasoning,
		estimated, u.Guess.Input, u.Guess.Output, cost.Micros,
		t.key.Tenant, t.key.ID)
}

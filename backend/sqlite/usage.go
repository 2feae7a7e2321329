package sqlite

import "github.com/spoolhq/spool"

const usageColumns = `run_id, agent_id, agent, step, model, model_id, outcome,
	input, cache_read, cache_write, output, reasoning, created_at`

// Usage implements [spool.View].
func (v *view) Usage() (lines []spool.UsageLine, newest spool.UsageRow, err error) {
	lines = []spool.UsageLine{}
	err = v.query(`SELECT agent_id, agent, model, model_id, input, cache_read, cache_write, output, reasoning, calls
		FROM usage_line WHERE tenant = ? AND thread_id = ? ORDER BY ord`,
		func(r *row) error {
			var l spool.UsageLine
			if agent := spool.AgentID(r.text()); agent != "" {
				l.AgentID = &agent
			}
			l.AgentName, l.Model, l.ModelID = r.text(), r.text(), r.text()
			l.InputTokens, l.CacheReadInputTokens, l.CacheWriteInputTokens = r.int64(), r.int64(), r.int64()
			l.OutputTokens, l.ReasoningTokens, l.Calls = r.int64(), r.int64(), r.int64()
			lines = append(lines, l)
			return nil
		}, v.key.Tenant, v.key.ID)
	if err != nil {
		return nil, newest, err
	}
	err = v.query("SELECT "+usageColumns+" FROM usage WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1",
		func(r *row) error {
			newest = spool.UsageRow{
				RunID: spool.RunID(r.text()), AgentID: spool.AgentID(r.text()), Agent: r.text(), Step: r.int(),
				Model: r.text(), ModelID: r.text(), Outcome: spool.Outcome(r.text()),
				Usage: spool.Usage{
					Input: r.maybe(), CacheRead: r.maybe(), CacheWrite: r.maybe(), Output: r.maybe(), Reasoning: r.maybe(),
				},
				CreatedAt: r.time(),
			}
			return nil
		}, v.key.Tenant, v.key.ID)
	return lines, newest, err
}

// AddUsage implements [spool.Tx]. The sums are raised with the ledger.
func (t *tx) AddUsage(u spool.UsageRow) error {
	const next = "coalesce((SELECT ord FROM usage WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0)"

	if err := t.needThread(); err != nil {
		return err
	}
	c := u.Usage
	err := t.write("INSERT INTO usage (tenant, thread_id, "+usageColumns+`, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, `+next+" + 1)",
		t.key.Tenant, t.key.ID, u.RunID, u.AgentID, u.Agent, u.Step, u.Model, u.ModelID, string(u.Outcome),
		c.Input, c.CacheRead, c.CacheWrite, c.Output, c.Reasoning, t.now,
		t.key.Tenant, t.key.ID)
	if err != nil {
		return err
	}
	return t.write(`INSERT INTO usage_line (tenant, thread_id, agent_id, agent, model, model_id,
			input, cache_read, cache_write, output, reasoning, calls, ord)
		VALUES (?, ?, ?, ?, ?, ?, coalesce(?, 0), coalesce(?, 0), coalesce(?, 0), coalesce(?, 0), coalesce(?, 0), 1, `+next+`)
		ON CONFLICT (tenant, thread_id, agent_id, agent, model, model_id) DO UPDATE SET
			input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
			cache_write = cache_write + excluded.cache_write, output = output + excluded.output,
			reasoning = reasoning + excluded.reasoning, calls = calls + 1`,
		t.key.Tenant, t.key.ID, u.AgentID, u.Agent, u.Model, u.ModelID,
		c.Input, c.CacheRead, c.CacheWrite, c.Output, c.Reasoning,
		t.key.Tenant, t.key.ID)
}

package sqlite

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

// count is a change of a row of the tally: of a tenant's runs in a state, of its threads (the state
// ""), or of its bytes ([sizeState]).
type count struct {
	tenant spool.Tenant
	state  string
	n      int64
	// tokens are the tokens of dispatched runs, which include those of their nested runs. The state RUNNING has none.
	tokens spool.TokenCount
}

// counts collects a transaction's changes of the tally. They are written together with the commit,
// because the ops of a batch often change the same rows.
type counts []count

func (c *counts) add(d count) {
	for i := range *c {
		if same := &(*c)[i]; same.tenant == d.tenant && same.state == d.state {
			same.n += d.n
			same.tokens.Add(d.tokens)
			return
		}
	}
	*c = append(*c, d)
}

// write adds the changes to the tally.
func (c *counts) write(to *conn) error {
	for _, d := range *c {
		if d.n == 0 && d.tokens == (spool.TokenCount{}) {
			continue
		}
		err := to.exec(`INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, state) DO UPDATE SET
				n = n + excluded.n,
				input_tokens = input_tokens + excluded.input_tokens,
				cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
				output_tokens = output_tokens + excluded.output_tokens,
				total_tokens = total_tokens + excluded.total_tokens`,
			d.tenant, d.state, d.n, d.tokens.InputTokens, d.tokens.CachedInputTokens, d.tokens.OutputTokens,
			d.tokens.TotalTokens)
		if err != nil {
			return err
		}
	}
	return nil
}

// countRun notes that the number of runs with the stored values changes by n. The tally has no tokens of running
// runs, because then each step would write it: see readTally.
func (t *tx) countRun(r *form.StoredRun, n int64) {
	c := count{tenant: t.key.Tenant, state: string(r.State), n: n}
	if r.State != wire.Running {
		c.tokens = r.TokensOf(n)
	}
	t.counts.add(c)
}

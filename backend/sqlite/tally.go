package sqlite

import "github.com/spoolhq/spool"

// count is by how much a row of the tally changes: of a tenant's runs in a state, of its threads
// under the state "", or of its bytes under [sizeState].
type count struct {
	tenant spool.Tenant
	state  string
	n      int64
	// tokens are those of dispatched runs, which have counted those of the runs nested in them.
	tokens spool.TokenCount
}

// counts are the changes of the tally in a transaction. They are written when it commits: a run
// that takes a step changes nothing that is not changed by others of the batch too.
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
			d.tenant, d.state, d.n, d.tokens.InputTokens, d.tokens.CachedInputTokens, d.tokens.OutputTokens, d.tokens.TotalTokens)
		if err != nil {
			return err
		}
	}
	return nil
}

// countRun notes that there is a run more as it is stored, or one less.
func (t *tx) countRun(r *storedRun, n int64) {
	d := count{tenant: t.key.Tenant, state: string(r.state), n: n}
	if r.depth == 0 {
		d.tokens = spool.TokenCount{
			InputTokens: n * r.tokens.InputTokens, CachedInputTokens: n * r.tokens.CachedInputTokens,
			OutputTokens: n * r.tokens.OutputTokens, TotalTokens: n * r.tokens.TotalTokens,
		}
	}
	t.counts.add(d)
}

package sqlite

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool/wire"
)

// Unfinished counts runs that have not ended and that the next process continues, grouped by the other
// fields. Nested runs continue with the runs that spawned them and are not counted.
type Unfinished struct {
	// Agent and Model are the names that the start gave, or the defaults at that time.
	Agent, Model string
	State        wire.State
	// MadeOn is the provider's name of the model that answered last on the threads of these runs under
	// the name Model. Empty: none has answered yet.
	MadeOn string
	// Requested is the provider's name of the model that was asked for that answer. MadeOn may be a
	// version of it. Empty: unknown.
	Requested string
	// Asks says that a run in the state WAITING_FOR_INPUT has a question, which somebody can answer.
	Asks bool
	// Pending counts the calls of such a run whose work goes on elsewhere, and Work is the name of the tool of one of
	// them.
	Pending int64
	Work    string
	Runs    int64
}

// unfinishedQueries walk the two indexes that have only such runs: active runs, and runs that wait for
// their thread.
var unfinishedQueries = []string{
	"SELECT agent, model, state, " + madeOn + ", " + requested + ", " + waits +
		" FROM run INDEXED BY run_active WHERE depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT')",
	"SELECT agent, model, state, " + madeOn + ", " + requested +
		", 0, 0, '' FROM run INDEXED BY run_waiting WHERE place > 0",
}

const (
	madeOn    = "coalesce((SELECT CASE WHEN usage.model = run.model THEN usage.model_id END" + lastUsage + "), '')"
	requested = "coalesce((SELECT CASE WHEN usage.model = run.model THEN usage.requested END" + lastUsage + "), '')"
	lastUsage = ` FROM usage
		WHERE usage.tenant = run.tenant AND usage.thread_id = run.thread_id ORDER BY usage.ord DESC LIMIT 1`

	waits = "(SELECT count(*) FROM" + parksIn + "'open'), (SELECT count(*) FROM" + parksIn +
		"'pending'), coalesce((SELECT min(park.tool_name) FROM" + parksIn + "'pending'), '')"
	parksIn = ` park
		WHERE run.state = 'WAITING_FOR_INPUT' AND park.tenant = run.tenant AND park.thread_id = run.thread_id AND park.run_id = run.id AND park.state = `
)

// Unfinished returns the unfinished runs that a process continues with this file, of all tenants.
func (db *DB) Unfinished(ctx context.Context) (all []Unfinished, err error) {
	err = db.pool.read(ctx, func(c *conn) error {
		all, err = readUnfinished(c)
		return err
	})
	return all, err
}

func readUnfinished(c *conn) (all []Unfinished, err error) {
	counts := make(map[Unfinished]int64)
	for _, query := range unfinishedQueries {
		if err := c.query(query, func(r *row) error {
			counts[Unfinished{
				Agent: r.Text(), Model: r.Text(), State: wire.State(r.Text()), MadeOn: r.Text(), Requested: r.Text(),
				Asks: r.Int64() > 0, Pending: r.Int64(), Work: r.Text(),
			}]++
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for u, n := range counts {
		u.Runs = n
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b Unfinished) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model), cmp.Compare(a.MadeOn, b.MadeOn),
			cmp.Compare(a.Requested, b.Requested), cmp.Compare(a.State, b.State),
			cmp.Compare(a.Work, b.Work), cmp.Compare(a.Pending, b.Pending), byAsks(a, b))
	})
	return all, nil
}

// byAsks sorts runs with a question first.
func byAsks(a, b Unfinished) int {
	switch {
	case a.Asks == b.Asks:
		return 0
	case a.Asks:
		return -1
	default:
		return 1
	}
}

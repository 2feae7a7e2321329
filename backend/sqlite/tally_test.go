package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestTallyIsTheSum compares the tally with what it counts, after transactions of which some
// fail and some delete what others of their batch have made.
func TestTallyIsTheSum(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	failure := errors.New("no")
	states := []wire.State{wire.Queued, wire.Running, wire.Completed, wire.Failed}
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(caller)))
			key := spool.ThreadKey{
				Tenant: spool.Tenant(fmt.Sprint("tenant", caller%2)), ID: spool.ThreadID(fmt.Sprint("t", caller)),
			}
			active := false // a dispatched run of the thread is running
			for round := range 60 {
				fail, remove := random.IntN(6) == 0, random.IntN(6) == 0
				state, tokens, depth := states[random.IntN(len(states))], random.Int64N(100), random.IntN(2)
				var dispatched bool
				err := db.Update(context.Background(), key, 0, func(tx store.Tx) error {
					r := store.RunRow{
						Run: wire.Run{ID: spool.RunID(fmt.Sprint("r", caller, "-", round)), State: wire.Completed, Depth: depth},
					}
					r.InputTokens = tokens
					if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, NewRuns: []store.RunRow{r}}); err != nil {
						return err
					}
					r.State, r.OutputTokens, r.TotalTokens = state, tokens, 2*tokens
					if state == wire.Queued || state == wire.Running && active {
						r.Depth = 1 // at most one dispatched run is active
					}
					dispatched = state == wire.Running && r.Depth == 0
					if err := tx.Write(store.Changes{Runs: []store.RunRow{r}}); err != nil {
						return err
					}
					if err := tx.Write(store.Changes{DeleteThread: remove}); err != nil {
						return err
					}
					if fail {
						return failure
					}
					return nil
				})
				if fail != errors.Is(err, failure) || !fail && err != nil {
					t.Errorf("caller %d: %v", caller, err)
				}
				if !fail {
					active = !remove && (active || dispatched)
				}
			}
		})
	}
	callers.Wait()
	read := func(query string) (rows []string) {
		err := db.pool.read(t.Context(), func(c *conn) error {
			return c.query(query, func(r *row) error {
				rows = append(rows, fmt.Sprint(r.Text(), " ", r.Text(), " ", r.Int64(), " ", r.Int64(), " ", r.Int64(), " ",
					r.Int64(), " ", r.Int64()))
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	got := read("SELECT tenant, state, n, input_tokens, cached_input_tokens, output_tokens, total_tokens FROM tally WHERE state <> 'bytes' AND n <> 0 ORDER BY tenant, state")
	const counts = "depth = 0 AND state <> 'RUNNING'"
	want := read(`SELECT tenant, '' AS state, count(*), 0, 0, 0, 0 FROM thread GROUP BY tenant
		UNION ALL SELECT tenant, state, count(*), sum(iif(` + counts + `, input_tokens, 0)), sum(iif(` +
		counts + `, cached_input_tokens, 0)),
			sum(iif(` + counts + `, output_tokens, 0)), sum(iif(` + counts + `, total_tokens, 0)) FROM run GROUP BY tenant, state
		ORDER BY tenant, state`)
	if len(want) < 4 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the tally is\n%s\nand the tables have\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Who reads it gets the tokens of all dispatched runs, the running ones included.
	want = read(`SELECT tenant, '', sum(input_tokens), sum(cached_input_tokens), sum(output_tokens), sum(total_tokens),
		sum(state = 'RUNNING') > 0 FROM run WHERE depth = 0 GROUP BY tenant`)
	for _, tenant := range []spool.Tenant{"tenant0", "tenant1"} {
		stats, err := db.Stats(t.Context(), wire.StatsQuery{Tenant: tenant, Tally: true})
		if err != nil {
			t.Fatal(err)
		}
		sum := stats.Tally.Tokens
		text := fmt.Sprint(tenant, "  ", sum.InputTokens, " ", sum.CachedInputTokens, " ", sum.OutputTokens, " ",
			sum.TotalTokens, " 1")
		if !slices.Contains(want, text) {
			t.Errorf("the sums are %q, want one of %q", text, want)
		}
	}
}

package postgres

import (
	"os"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
)

// TestClaimFair lets a tenant with a few jobs come to two processes that are busy with the thousands of another one. It
// counts claims and no time: while the tenant has a job that waits and fewer in flight, no claim takes a job of the
// other one. So its jobs wait for no more of the other's than its share. With SPOOL_TEST_LONG=1 there are 10,000.
func TestClaimFair(t *testing.T) {
	t.Parallel()
	backlog := 500
	if os.Getenv("SPOOL_TEST_LONG") == "1" {
		backlog = 10_000
	}
	for name, perTenant := range map[string]int{"Unbounded": 0, "PerTenant": 12} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const slots, few = 16, 10
			url := pgtest.Database(t, tables)
			f := &fairness{
				t: t, nodes: []*DB{opened(t, url, nil), opened(t, url, nil)}, perTenant: perTenant,
				flying: make(map[spool.Tenant]int),
			}
			enqueue(t, f.nodes[0], "many", "a", backlog)
			for range slots {
				f.claim()
			}
			most := slots
			if perTenant > 0 {
				most = perTenant
			}
			if got := f.flying["many"]; got != most {
				t.Fatalf("alone, the tenant has %d jobs in flight, want %d", got, most)
			}
			enqueue(t, f.nodes[1], "few", "a", few)
			waiting, claims := few, 0
			for waiting > 0 {
				f.finish()
				owed := f.flying["few"] < f.flying["many"] // the tenant with fewer in flight comes first
				got := f.claim()
				claims++
				switch {
				case got == "few":
					waiting--
				case owed:
					t.Fatalf("claim %d is of %q, while few has %d in flight and many %d", claims, got, f.flying["few"],
						f.flying["many"])
				}
				if claims > 2*few+slots {
					t.Fatalf("%d claims, and %d jobs of the tenant still wait", claims, waiting)
				}
			}
		})
	}
}

// fairness is workers of several processes, each of which claims one job at a time.
type fairness struct {
	t         *testing.T
	nodes     []*DB
	perTenant int

	turn   int
	held   []store.Delivery // the oldest first
	flying map[spool.Tenant]int
}

// claim claims one job at the next process and returns its tenant, or "" if there is none.
func (f *fairness) claim() spool.Tenant {
	f.t.Helper()
	f.turn++
	node := f.nodes[f.turn%len(f.nodes)]
	taken, _, err := node.Claim(testwait.Context(f.t, "a claim"),
		store.ClaimQuery{Limit: 1, Lease: time.Hour, PerTenant: f.perTenant})
	if err != nil {
		f.t.Fatal(err)
	}
	if len(taken) == 0 {
		return ""
	}
	f.held = append(f.held, taken[0])
	f.flying[taken[0].Tenant]++
	return taken[0].Tenant
}

// finish ends the job that was claimed first.
func (f *fairness) finish() {
	f.t.Helper()
	d := f.held[0]
	f.held = f.held[1:]
	f.flying[d.Tenant]--
	node := f.nodes[f.turn%len(f.nodes)]
	if err := node.Ack(testwait.Context(f.t, "an acknowledgement"), d, store.Ack{Kind: store.AckDone}); err != nil {
		f.t.Fatal(err)
	}
}

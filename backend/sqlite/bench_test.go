package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// BenchmarkAppend appends one entry of about 400 bytes per operation, each caller to a
// thread of its own. The rate to look at is that of callers together.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			db := openBench(b)
			payload := map[string]string{"text": strings.Repeat("x", 380)}
			keys := make([]spool.ThreadKey, callers)
			for i := range keys {
				keys[i] = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
				update(b, db, keys[i], func(tx store.Tx) error {
					return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
				})
			}
			share(b, callers, func(caller, _ int) error {
				return db.Update(context.Background(), keys[caller], 0, func(tx store.Tx) error {
					return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("BENCH", "", payload)}})
				})
			})
		})
	}
}

// BenchmarkStart writes what the start of a run writes: thread, run, message and job.
func BenchmarkStart(b *testing.B) {
	for _, callers := range []int{16, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			db := openBench(b)
			share(b, callers, func(caller, n int) error {
				id := strconv.Itoa(caller) + "-" + strconv.Itoa(n)
				key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(id)}
				return db.Update(context.Background(), key, 0, func(tx store.Tx) error {
					if _, err := tx.Thread(); spool.CodeOf(err) != spool.NotFound {
						return err
					}
					run := spool.RunID("run-" + id)
					return tx.Write(store.Changes{
						Thread:   &wire.Thread{State: wire.Queued, RunID: run},
						NewRuns:  []store.RunRow{{Run: wire.Run{ID: run, State: wire.Queued, EnqueuedAt: tx.Now()}}},
						Messages: []*spool.Message{{ID: "m", RunID: run, Role: spool.RoleUser, Content: spool.TextContent("hello")}},
						Jobs:     []wire.Job{{RunID: run, Agent: "a", Kind: wire.JobStart, Key: "start:" + string(run)}},
					})
				})
			})
		})
	}
}

// BenchmarkEmptyClaim is the poll of an idle worker.
func BenchmarkEmptyClaim(b *testing.B) {
	db := openBench(b)
	for b.Loop() {
		if _, _, err := db.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: 0}); err != nil {
			b.Fatal(err)
		}
	}
}

func openBench(b *testing.B) *sqlite.DB {
	b.Helper()
	db, err := sqlite.Open(filepath.Join(b.TempDir(), "spool.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// share divides b.N calls of fn among callers.
func share(b *testing.B, callers int, fn func(caller, n int) error) {
	b.Helper()
	b.ResetTimer()
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for n := caller; n < b.N; n += callers {
				if err := fn(caller, n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func update(tb testing.TB, s store.Store, key spool.ThreadKey, fn func(tx store.Tx) error) {
	tb.Helper()
	if err := s.Update(context.Background(), key, 0, fn); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkReads reads what a hub and a step read at each turn: the thread, its last run, and
// the messages and entries after a place. Most of it was preparing statements again.
func BenchmarkReads(b *testing.B) {
	db := openBench(b)
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	update(b, db, key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:   &wire.Thread{State: wire.Queued, RunID: "r"},
			NewRuns:  []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Queued, EnqueuedAt: tx.Now()}}},
			Messages: []*spool.Message{{ID: "m", RunID: "r", Role: spool.RoleUser, Content: spool.TextContent("hello")}},
			Entries:  []*wire.Entry{wire.NewEntry("BENCH", "r", nil)},
		})
	})
	for b.Loop() {
		err := db.View(context.Background(), key, func(v store.View) error {
			_, err := v.Thread()
			_, err2 := v.Runs(wire.RunQuery{Limit: 1})
			_, err3 := v.Messages(store.MessageQuery{Role: spool.RoleUser, Limit: 1})
			_, err4 := v.Entries(store.EntryQuery{After: 0, Limit: 100})
			return errors.Join(err, err2, err3, err4)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

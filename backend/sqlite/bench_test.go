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
				update(b, db, keys[i], func(tx spool.Tx) error { return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}}) })
			}
			share(b, callers, func(caller, _ int) error {
				return db.Update(context.Background(), keys[caller], 0, func(tx spool.Tx) error {
					return tx.Write(spool.Changes{Entries: []*spool.Entry{spool.NewEntry("BENCH", "", payload)}})
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
				return db.Update(context.Background(), key, 0, func(tx spool.Tx) error {
					if _, err := tx.Thread(); spool.CodeOf(err) != spool.NotFound {
						return err
					}
					run := spool.RunID("run-" + id)
					return tx.Write(spool.Changes{
						Thread:   &spool.Thread{State: spool.Queued, RunID: run},
						NewRuns:  []spool.RunRow{{Run: spool.Run{ID: run, State: spool.Queued, EnqueuedAt: tx.Now()}}},
						Messages: []*spool.Message{{ID: "m", RunID: run, Role: spool.RoleUser, Content: spool.TextContent("hello")}},
						Jobs:     []spool.Job{{RunID: run, Agent: "a", Kind: spool.JobStart, Key: "start:" + string(run)}},
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
		if _, _, err := db.Claim(context.Background(), spool.ClaimQuery{Limit: 10, Lease: 0}); err != nil {
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

func update(tb testing.TB, s spool.Store, key spool.ThreadKey, fn func(tx spool.Tx) error) {
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
	update(b, db, key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:   &spool.Thread{State: spool.Queued, RunID: "r"},
			NewRuns:  []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Queued, EnqueuedAt: tx.Now()}}},
			Messages: []*spool.Message{{ID: "m", RunID: "r", Role: spool.RoleUser, Content: spool.TextContent("hello")}},
			Entries:  []*spool.Entry{spool.NewEntry("BENCH", "r", nil)},
		})
	})
	for b.Loop() {
		err := db.View(context.Background(), key, func(v spool.View) error {
			_, err := v.Thread()
			_, err2 := v.Runs(spool.RunQuery{Limit: 1})
			_, err3 := v.Messages(spool.MessageQuery{Role: spool.RoleUser, Limit: 1})
			_, err4 := v.Entries(spool.EntryQuery{After: 0, Limit: 100})
			return errors.Join(err, err2, err3, err4)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestBatchAgain has ops of one batch fail, before and after what they write, and lose the
// transaction of them all. Those beside them are kept, each once. A function is called twice at
// the most.
func TestBatchAgain(t *testing.T) {
	t.Parallel()

	failure := errors.New("no")
	for name, fault := range map[string]struct {
		fn    func(tx *tx) error
		calls int // of each other function
	}{
		"before it writes": {func(*tx) error { return failure }, 1},
		"without a change": {func(tx *tx) error {
			return errors.Join(tx.write("UPDATE thread SET title = title WHERE tenant = ? AND id = ?", "none", "none"), failure)
		}, 1},
		"after a change": {func(tx *tx) error { return errors.Join(appendTo(tx), failure) }, 2},
		"a change is refused": {func(tx *tx) error {
			_ = tx.Write(store.Changes{Runs: []store.RunRow{{Run: wire.Run{ID: "none"}}}})
			_ = appendTo(tx)
			return nil
		}, 1},
		"a later change is refused": {func(tx *tx) error {
			_ = appendTo(tx)
			_ = tx.Write(store.Changes{Restore: 7})
			return nil
		}, 2},
		"the store refuses": {func(tx *tx) error {
			return errors.Join(appendTo(tx), tx.write("INSERT INTO thread (tenant, id) VALUES (?, ?)", "x", nil))
		}, 2},
		"the transaction is lost": {func(tx *tx) error {
			return errors.Join(appendTo(tx), tx.c.exec("ROLLBACK"), failure)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			const callers, failing = 5, 2
			calls, errs := make([]int, callers), make([]error, callers)
			waiting := make([]chan error, callers)
			held, release := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				_ = db.queue(context.Background(), func(*tx) error {
					close(held)
					<-release
					return nil
				})
			})
			testwait.For(t, held, "the writer")
			for i := range callers {
				o := &op{key: spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID(fmt.Sprint("t", i))}, done: make(chan error, 1)}
				o.fn = func(tx *tx) error {
					calls[i]++
					if i == failing {
						return fault.fn(tx)
					}
					return appendTo(tx)
				}
				db.writer.ops <- o // in this order
				waiting[i] = o.done
			}
			close(release)
			for i, done := range waiting {
				errs[i] = testwait.For(t, done, "an operation")
			}
			wg.Wait()
			lost := name == "the transaction is lost"
			for i := range callers {
				// In a transaction that is lost a second time, everybody's is.
				if failed := errs[i] != nil; failed != (i == failing || lost && i < failing) {
					t.Errorf("caller %d: got error %v", i, errs[i])
				}
				want := fault.calls
				if i > failing || i == failing && fault.calls == 1 {
					want = 1
				}
				if calls[i] != want {
					t.Errorf("function %d was called %d times, want %d", i, calls[i], want)
				}
				n := 0
				err := db.View(t.Context(), spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID(fmt.Sprint("t", i))},
					func(v store.View) error {
						all, err := v.Entries(store.EntryQuery{})
						n = len(all)
						return err
					})
				if err != nil || n != 1 != (errs[i] != nil) {
					t.Errorf("thread %d has %d entries and error %v", i, n, err)
				}
			}
		})
	}
}

func appendTo(tx *tx) error {
	if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
		return err
	}
	if err := tx.flush(); err != nil { // so that something is written already
		return err
	}
	tx.row.stored = true
	return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
}

// TestFailsAlone: a function that fails with nobody beside it is called once.
func TestFailsAlone(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	failure := errors.New("no")
	calls := 0
	err = db.queue(context.Background(), func(tx *tx) error {
		calls++
		return errors.Join(tx.write("INSERT INTO tally VALUES ('a', '', 1, 0, 0, 0, 0)"), failure)
	})
	if !errors.Is(err, failure) || calls != 1 {
		t.Errorf("got error %v after %d calls", err, calls)
	}
	stats, err := db.Stats(t.Context(), wire.StatsQuery{Tenant: "a", Tally: true})
	if err != nil || stats.Tally.Threads != 0 {
		t.Errorf("the tally is %v, %v", stats.Tally, err)
	}
}

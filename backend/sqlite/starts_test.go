package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A start needs no connection that views may have: it goes on while they have all.
func TestStartsDoNotWaitForViews(t *testing.T) {
	t.Parallel()
	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	key := spool.ThreadKey{Tenant: "a", ID: "t"}
	views := max(4, runtime.GOMAXPROCS(0))
	gate, reading, done := make(chan struct{}), make(chan struct{}), make(chan error)
	for range views {
		go func() {
			done <- db.View(context.Background(), key, func(v store.View) error {
				_, err := v.Branches()
				reading <- struct{}{}
				<-gate
				return err
			})
		}()
	}
	for range views {
		testwait.For(t, reading, "a view to read")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := db.View(canceledAfter(t), key, func(store.View) error { return nil }); spool.CodeOf(err) != spool.Canceled {
		t.Errorf("one more view: %v", err)
	}
	found, err := db.Runs(ctx, wire.RunQuery{Tenant: "a", StartKey: "key", Whole: true})
	if err != nil || len(found) > 0 {
		t.Errorf("find a start: %v and error %v", found, err)
	}
	_, err = db.Stats(ctx, wire.StatsQuery{Tenant: "a", Tally: true, Queue: true})
	_, _, claimErr := db.Claim(ctx, store.ClaimQuery{Limit: 1, Lease: time.Minute})
	writeErr := db.Update(ctx, key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
	})
	if err := errors.Join(err, claimErr, writeErr); err != nil {
		t.Error(err)
	}
	close(gate)
	for range views {
		if err := testwait.For(t, done, "the end of a view"); err != nil {
			t.Error(err)
		}
	}
}

// canceledAfter returns a context that ends soon.
func canceledAfter(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

package sqlite

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A close while callers write keeps all that they were told is saved, and tells each of them that the store is closed.
func TestCloseWhileWriting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool.db")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	const callers = 4
	var saved atomic.Int64
	writes, refused := make(chan bool, callers), make(chan error, callers)
	for i := range callers {
		go func() {
			for n := 0; ; n++ {
				key := spool.ThreadKey{Tenant: "a", ID: spool.ThreadID(fmt.Sprintf("%d-%d", i, n))}
				err := db.Update(t.Context(), key, 0, func(tx store.Tx) error {
					return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
				})
				if err != nil {
					refused <- err
					return
				}
				saved.Add(1)
				if n == 0 {
					writes <- true
				}
			}
		}()
	}
	for range callers {
		testwait.For(t, writes, "each caller to write")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	for range callers {
		if err := testwait.For(t, refused, "each caller to learn of the close"); spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("a write to a closed store: %v", err)
		}
	}
	db = exclusive(t, path, Options{})
	if n := countThreads(t, db); n != saved.Load() {
		t.Errorf("%d threads are there, want %d", n, saved.Load())
	}
}

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func key(id string) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(id)}
}

// held is a store whose writer waits in a transaction, so that what is called meanwhile
// comes into one batch.
type held struct {
	*sqlite.DB
	t     *testing.T
	begun chan struct{}
	end   chan struct{}
	wg    sync.WaitGroup
}

func hold(t *testing.T) *held {
	t.Helper()
	h := &held{
		DB: open(t, filepath.Join(t.TempDir(), "spool.db"), nil), t: t,
		begun: make(chan struct{}), end: make(chan struct{}),
	}
	h.wg.Go(func() {
		err := h.Update(context.Background(), key("held"), 0, func(store.Tx) error {
			close(h.begun)
			<-h.end
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	testwait.For(t, h.begun, "the writer")
	return h
}

// release lets the writer go on, and waits for everybody.
func (h *held) release() {
	close(h.end)
	h.wg.Wait()
}

// call runs an Update beside the test. It puts its error into err.
func (h *held) call(ctx context.Context, id string, err *error, fn func(tx store.Tx) error) {
	h.wg.Go(func() { *err = h.Update(ctx, key(id), 0, fn) })
}

// entries returns the seqs of a record.
func entries(t *testing.T, s store.Store, id string) (seqs []int64) {
	t.Helper()
	err := s.View(context.Background(), key(id), func(v store.View) error {
		all, err := v.Entries(store.EntryQuery{})
		for _, e := range all {
			seqs = append(seqs, e.Seq)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seqs
}

func appendOne(tx store.Tx) error {
	if _, err := tx.Thread(); err != nil {
		if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
			return err
		}
	}
	return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
}

func TestBatchOneFails(t *testing.T) {
	t.Parallel()

	h := hold(t)
	failure := errors.New("no")
	const callers = 60
	errs := make([]error, callers)
	for i := range callers {
		// Five to a thread, of which the third fails after it wrote.
		h.call(context.Background(), fmt.Sprint("t", i/5), &errs[i], func(tx store.Tx) error {
			if err := appendOne(tx); err != nil {
				return err
			}
			if i%5 == 2 {
				return failure
			}
			return nil
		})
	}
	h.release()
	for i, err := range errs {
		if i%5 == 2 != errors.Is(err, failure) {
			t.Errorf("caller %d: got error %v", i, err)
		}
	}
	for i := range callers / 5 {
		if got := entries(t, h, fmt.Sprint("t", i)); !slices.Equal(got, []int64{1, 2, 3, 4}) {
			t.Errorf("thread %d has the record %v", i, got)
		}
	}
}

func TestBatchPanic(t *testing.T) {
	t.Parallel()

	h := hold(t)
	var before, panicked, after error
	h.call(context.Background(), "before", &before, appendOne)
	h.call(context.Background(), "panics", &panicked, func(tx store.Tx) error {
		_ = appendOne(tx)
		panic("oh")
	})
	h.call(context.Background(), "after", &after, appendOne)
	h.release()
	if before != nil || after != nil {
		t.Errorf("the others: got errors %v and %v", before, after)
	}
	if spool.CodeOf(panicked) != spool.Internal || !strings.Contains(panicked.Error(), "oh") {
		t.Errorf("the one that panicked: got error %v", panicked)
	}
	if spool.MessageOf(panicked) != "Internal error" {
		t.Errorf("a client would read %q", spool.MessageOf(panicked))
	}
	for id, want := range map[string]int{"before": 1, "panics": 0, "after": 1} {
		if got := entries(t, h, id); len(got) != want {
			t.Errorf("thread %s has the record %v", id, got)
		}
	}
}

// TestBatchGoexit: a function that ends the goroutine it is on, as FailNow does, must not
// end the writer.
func TestBatchGoexit(t *testing.T) {
	t.Parallel()

	h := hold(t)
	errs := make([]error, 9)
	for i := range errs {
		h.call(context.Background(), fmt.Sprint("t", i), &errs[i], func(tx store.Tx) error {
			err := appendOne(tx)
			if i%3 == 0 {
				runtime.Goexit()
			}
			return err
		})
	}
	h.release()
	for i, err := range errs {
		if i%3 == 0 != (spool.CodeOf(err) == spool.Internal) {
			t.Errorf("caller %d: got error %v", i, err)
		}
		if got := entries(t, h, fmt.Sprint("t", i)); (len(got) == 0) != (i%3 == 0) {
			t.Errorf("thread %d has the record %v", i, got)
		}
	}
	update(t, h, key("later"), appendOne)
}

func TestCanceledWhileWaiting(t *testing.T) {
	t.Parallel()

	h := hold(t)
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan error)
	go func() {
		waiting <- h.Update(ctx, key("t"), 0, func(store.Tx) error {
			t.Error("the function was called")
			return nil
		})
	}()
	cancel()
	if err := testwait.For(t, waiting, "the canceled update"); spool.CodeOf(err) != spool.Canceled {
		t.Errorf("got error %v while the writer was busy, want it canceled", err)
	}
	h.release()
	update(t, h, key("later"), appendOne)
}

func TestCanceledOnceBegun(t *testing.T) {
	t.Parallel()

	db := open(t, filepath.Join(t.TempDir(), "spool.db"), nil)
	ctx, cancel := context.WithCancel(context.Background())
	err := db.Update(ctx, key("t"), 0, func(tx store.Tx) error {
		cancel()
		return appendOne(tx)
	})
	if err != nil {
		t.Errorf("got error %v, want the outcome", err)
	}
	if got := entries(t, db, "t"); len(got) != 1 {
		t.Errorf("the record is %v", got)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()

	h := hold(t)
	waiting := make([]error, 20)
	for i := range waiting {
		h.call(context.Background(), fmt.Sprint("t", i), &waiting[i], appendOne)
	}
	closed := make(chan error)
	go func() { closed <- h.Close() }()
	h.release()
	if err := testwait.For(t, closed, "the end of Close"); err != nil {
		t.Errorf("close: %v", err)
	}
	for i, err := range waiting {
		if err != nil && spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("caller %d: got error %v", i, err)
		}
	}
	if err := h.Update(context.Background(), key("t"), 0, appendOne); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("Update: got error %v", err)
	}
	if err := h.View(context.Background(), key("t"), func(store.View) error {
		return nil
	}); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("View: got error %v", err)
	}
	if err := h.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}

// TestViewWhileWriting reads the same state before and after a commit that comes between.
func TestViewWhileWriting(t *testing.T) {
	t.Parallel()

	db := open(t, filepath.Join(t.TempDir(), "spool.db"), nil)
	update(t, db, key("t"), appendOne)
	err := db.View(context.Background(), key("t"), func(v store.View) error {
		before, err := v.Thread()
		if err != nil {
			return err
		}
		if err := db.Update(context.Background(), key("t"), before.Fence, appendOne); err != nil {
			return err
		}
		all, err := v.Entries(store.EntryQuery{})
		if len(all) != 1 {
			t.Errorf("the view has seen %d entries, want 1", len(all))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := entries(t, db, "t"); len(got) != 2 {
		t.Errorf("the record is %v", got)
	}
}

// TestIdleClaim: looking for jobs where there are none must not grow the log.
func TestIdleClaim(t *testing.T) {
	t.Parallel()

	h := hold(t) // a Claim that needed the writer would hang here
	defer h.release()
	taken, next, err := h.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 0 || !next.IsZero() {
		t.Errorf("got %v, %v and error %v", taken, next, err)
	}
}

package engine_test

import (
	"context"
	"encoding/json"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// viewingStore counts the transactions that read.
type viewingStore struct {
	store.Store

	views atomic.Int64
}

func (s *viewingStore) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	s.views.Add(1)
	return s.Store.View(ctx, key, fn)
}

// TestHubReads has a run with one tool call, with and without a follower. The hub reads the store once
// for the entry that begins the segment, and once for the entry that ends it. It reads once more if it
// sees an entry before the items in front of it. This happens by chance, so the best of some runs counts.
func TestHubReads(t *testing.T) {
	t.Parallel()
	best := int64(math.MaxInt64)
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			alone, _ := viewsOfRun(t, false)
			followed, joined := viewsOfRun(t, true)
			best = min(best, followed-alone)
			if joined > 4 { // whether the thread exists, the hub's start, the client's start, and the user's turn
				t.Errorf("a follower takes %d transactions to begin, want at most 4", joined)
			}
		})
	}
	if best < 1 || best > 2 {
		t.Errorf("a hub reads a thread %d times while a run executes, want 2", best)
	}
}

// viewsOfRun returns how many transactions read during a run, and while its follower begins.
func viewsOfRun(t *testing.T, follow bool) (run, join int64) {
	t.Helper()
	b := memory.New(nil)
	store := &viewingStore{Store: b.Store}
	b.Store = store
	say := toolOf("say", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		<-time.After(100 * time.Millisecond) // for what was saved before to be seen by itself
		return json.RawMessage(`"said"`), nil
	})
	c := config(once("say"), say)
	c.Worker.Poll = time.Hour
	e := newEngine(t, b, c)
	start(t, e, "r1")
	ctx, cancel := context.WithCancel(t.Context())
	var done chan struct{}
	before := store.views.Load()
	if follow {
		done = make(chan struct{})
		go func() {
			defer close(done)
			for _, err := range e.Follow(ctx, key, wire.FollowOptions{Cursor: &wire.Cursor{}}) {
				if err != nil {
					return
				}
			}
		}()
	}
	synctest.Wait()
	join, before = store.views.Load()-before, store.views.Load()
	stop := work(t, e)
	pass(time.Second)
	run = store.views.Load() - before
	if got := state(t, b); got != wire.Completed {
		t.Fatalf("the thread is %s", got)
	}
	cancel()
	if follow {
		<-done
	}
	stop()
	return run, join
}

// A live event does not make a hub read the store: it is in the notice.
func TestNoticesAreNotReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		db := &viewingStore{Store: b.Store}
		b.Store = db
		c := config(spooltest.NewModel())
		c.Worker.Poll = time.Hour
		e := newEngine(t, b, c)
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		got := watch(ctx, e, &wire.Cursor{})
		pass(time.Second)
		before := db.views.Load()
		entry := wire.Entry{ThreadID: key.ID, Type: "progress", Payload: json.RawMessage(`{}`)}
		notice, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			b.Live.Wake(key, store.WakeNotice, notice)
			pass(time.Second)
		}
		if n := db.views.Load() - before; n != 0 {
			t.Errorf("three notices make the hub read the store %d times", n)
		}
		if n := count(got(), "progress"); n != 3 {
			t.Errorf("%d of three notices arrive:\n%s", n, text(got()))
		}
		cancel()
	})
}

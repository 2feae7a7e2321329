package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// sickStore refuses updates or hangs, as a test says.
type sickStore struct {
	store.Store

	err  error
	hang bool
}

func (s *sickStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if s.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.err != nil {
		return s.err
	}
	return s.Store.Update(ctx, key, fence, fn)
}

func TestCheckStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		sick := &sickStore{Store: b.Store}
		b.Store = sick
		e := newEngine(t, b, config(spooltest.NewModel()))
		check := func() string {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := e.CheckStore(ctx); err != nil {
				return spool.MessageOf(err)
			}
			return ""
		}
		if got := check(); got != "" {
			t.Errorf("a store that is well: %s", got)
		}
		if list, err := e.Threads(t.Context(), spool.DefaultTenant, wire.ThreadQuery{}); err != nil || len(list) != 0 {
			t.Errorf("the check has left %v, %v", list, err)
		}
		sick.err = errors.New("secret: disk full")
		if got := check(); got != "the store failed" {
			t.Errorf("a store that fails: %q", got)
		}
		sick.hang = true
		if got := check(); got != "the store did not answer in time" {
			t.Errorf("a store that hangs: %q", got)
		}
	})
}

// fullStore has no room. Transactions that change nothing succeed.
type fullStore struct{ store.Store }

func (fullStore) Check(context.Context) error {
	return &spool.Error{Code: spool.Unavailable, Message: "the disk has no room", Err: errors.New("secret: /data")}
}

// CheckStore reports a full disk before a start fails, also with telemetry.
func TestCheckStoreFull(t *testing.T) {
	t.Parallel()
	measured, _ := measure(t, config(spooltest.NewModel()))
	for name, c := range map[string]engine.Config{"plain": config(spooltest.NewModel()), "measured": measured} {
		b := memory.New(nil)
		b.Store = fullStore{b.Store}
		err := newEngine(t, b, c).CheckStore(t.Context())
		if spool.CodeOf(err) != spool.Unavailable || spool.MessageOf(err) != "the disk has no room" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sickQueue is a store that claims nothing while the test says so.
type sickQueue struct {
	store.Store

	mu   sync.Mutex
	err  error
	hang chan struct{}
}

// be sets what the queue does from now on.
func (q *sickQueue) be(err error, hang chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err, q.hang = err, hang
}

func (q *sickQueue) Claim(ctx context.Context, query store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	q.mu.Lock()
	err, hang := q.err, q.hang
	q.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	return q.Store.Claim(ctx, query)
}

func TestCheckWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		sick := &sickQueue{Store: b.Store}
		b.Store = sick
		e := newEngine(t, b, config(spooltest.NewModel(openTurn("x"))))
		check := func(when, want string) {
			t.Helper()
			got := ""
			if err := e.CheckWorker(t.Context()); err != nil {
				got = spool.MessageOf(err)
			}
			if got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		check("before the work", "no worker runs")
		stop := work(t, e)
		pass(time.Second)
		check("at work", "")
		start(t, e, "r1")
		pass(time.Hour)
		check("after an hour of work", "")
		sick.be(errors.New("secret: no such table"), nil)
		pass(2 * time.Second)
		check("with a queue that fails", "the queue hands out no jobs")
		sick.be(nil, nil)
		pass(2 * time.Second)
		hang := make(chan struct{})
		sick.be(nil, hang)
		pass(20 * time.Second)
		check("with a queue that hangs", "the worker is stuck")
		sick.be(nil, nil)
		close(hang)
		pass(2 * time.Second)
		check("with a queue that is well again", "")
		stop()
		check("after the work", "no worker runs")
	})
}

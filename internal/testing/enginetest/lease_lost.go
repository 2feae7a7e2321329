package enginetest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// unfenced is a store that, once broken, fails all commits of workers.
type unfenced struct {
	store.Store

	broken atomic.Bool
}

func (u *unfenced) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if fence != 0 && u.broken.Load() {
		return spool.Errorf(spool.Unavailable, "not today")
	}
	return u.Store.Update(ctx, key, fence, fn)
}

// testLeaseCannotRenew has a worker that cannot write while its model is silent. It gives the run up
// before its lease lapses, because another worker may take the run then.
func testLeaseCannotRenew(s *engineTest) {
	const lease = time.Minute
	m := spooltest.NewModel(spooltest.Turn{Before: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}, spooltest.Say("hi"))
	c := s.config(m)
	c.Worker.Lease = lease
	b := s.join()
	store := &unfenced{Store: b.Store}
	b.Store = store
	e := s.over(b, c)
	s.start(e, "r1", "go")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		_, err := e.HandleJob(ctx, ticket("r1"))
		gone <- err
	}()
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(10 * lease)
	store.broken.Store(true)
	select {
	case err := <-gone:
		if spool.CodeOf(err) != spool.Unavailable {
			s.Errorf("the worker gave up with %v", err)
		}
	case <-time.After(lease):
		cancel()
		s.Errorf("the worker holds on to a run whose lease is over, until it is shut down: %v", <-gone)
	}
	s.work(s.engine(c))
	s.ended(wire.Completed)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// pendingStore is a store that reports when a tool call was written as pending.
type pendingStore struct {
	store.Store

	then func()
}

func (a pendingStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	pending := false
	err := a.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		pending = false
		return fn(pendingTx{tx, &pending})
	})
	if err == nil && pending {
		a.then()
	}
	return err
}

type pendingTx struct {
	store.Tx

	pending *bool
}

func (a pendingTx) Write(c store.Changes) error {
	for _, e := range c.Effects {
		*a.pending = *a.pending || e.State == wire.EffectPending
	}
	return a.Tx.Write(c)
}

// testJobHandBackUnrun shuts a worker down after it has written a call as pending and before it makes
// the call. Nobody is asked about the call's outcome: the call runs under the next worker.
func testJobHandBackUnrun(s *engineTest) {
	c := s.config(sending(), plain("send", "1"))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := s.join()
	b.Store = pendingStore{b.Store, sync.OnceFunc(cancel)}
	e := s.over(b, c)
	s.start(e, "r1", "go")
	if _, err := e.HandleJob(ctx, ticket("r1")); err != nil {
		s.Error(err)
	}
	if n := s.executed(); n != 0 {
		s.Errorf("the worker that shuts down made %d calls", n)
	}
	s.work(s.engine(c))
	s.until("the end of the run, or a question",
		func() bool { return !s.thread().State.Active() || s.thread().State == wire.WaitingForInput })
	if r := s.run("r1"); r.State != wire.Completed || s.executed() != 1 {
		s.Errorf("%d calls, and the run is %+v", s.executed(), r)
	}
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, "tool c1:1", "assistant done")
}

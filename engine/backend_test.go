package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// An engine refuses a store that other processes may use if nothing wakes them, and says what to do. It
// makes its own Live for a store of one process.
func TestNewChecksTheBackend(t *testing.T) {
	t.Parallel()
	db, live := memory.New(nil).Store, engine.NewLive(0)
	for name, test := range map[string]struct {
		backend store.Backend
		single  bool
		want    string
	}{
		"no store":                 {backend: store.Backend{Live: live}, want: "Backend.Store is required"},
		"shared":                   {backend: store.Backend{Store: db, Shared: true}, want: "Config.SingleProcess"},
		"shared, with a live":      {backend: store.Backend{Store: db, Live: live, Shared: true}},
		"shared, but one process":  {backend: store.Backend{Store: db, Shared: true}, single: true},
		"of one process":           {backend: store.Backend{Store: db}},
		"of one process, and live": {backend: store.Backend{Store: db, Live: live}},
	} {
		c := config(spooltest.NewModel())
		c.SingleProcess = test.single
		_, err := engine.New(test.backend, c)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), test.want)):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// lateStore fails the commit of updates without a lease, and no change before it, as a store does that
// sends its changes with the commit.
type lateStore struct {
	store.Store

	err error
}

func (s *lateStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	return s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		if err := fn(tx); err != nil || fence != 0 {
			return err
		}
		return s.err
	})
}

// A start is refused for a conflict that the store finds as late as with the commit.
func TestStartIsRefusedLate(t *testing.T) {
	t.Parallel()
	measured, _ := measure(t, config(spooltest.NewModel()))
	for name, c := range map[string]engine.Config{"plain": config(spooltest.NewModel()), "measured": measured} {
		b := memory.New(nil)
		late := &lateStore{Store: b.Store}
		b.Store = late
		e := newEngine(t, b, c)
		for err, want := range map[error]string{
			store.ErrRunIDUsed: wire.ReasonRunIDUsed, store.ErrActiveRun: wire.ReasonActiveRun,
			store.ErrStartKeyUsed: wire.ReasonActiveRun,
		} {
			late.err = err
			r, got := e.Run(t.Context(), key, wire.StartRequest{Prompt: "p", RunID: "r1", IdempotencyKey: "k"})
			if got != nil || r.Accepted || r.Reason != want {
				t.Errorf("%s: a start is %+v, %v, want %s", name, r, got, want)
			}
		}
		late.err = nil
		start(t, e, "r1")
	}
}

// A redrive is refused in the same way.
func TestRedriveIsRefusedLate(t *testing.T) {
	t.Parallel()
	b := memory.New(nil)
	late := &lateStore{Store: b.Store}
	b.Store = late
	e := newEngine(t, b, config(spooltest.NewModel()))
	start(t, e, "r1")
	if err := e.HandleDeadJob(
		t.Context(), wire.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r1", Agent: "a"}, 3, "no",
	); err != nil {
		t.Fatal(err)
	}
	job := deadJob(t, b, wire.Job{RunID: "r1", Agent: "a", Key: "k"})
	for err, want := range map[error]string{
		store.ErrActiveRun:                     wire.ReasonActiveRun,
		spool.Errorf(spool.NotFound, "no job"): wire.ReasonNotFound,
	} {
		late.err = err
		r, got := e.Redrive(t.Context(), key.Tenant, job)
		if got != nil || r.Accepted || r.Reason != want {
			t.Errorf("a redrive is %+v, %v, want %s", r, got, want)
		}
	}
	late.err = nil
	if r, err := e.Redrive(t.Context(), key.Tenant, job); err != nil || !r.Accepted {
		t.Errorf("a redrive is %+v, %v", r, err)
	}
}

// deadJob adds a dead job of the thread and returns its id.
func deadJob(t *testing.T, b store.Backend, j wire.Job) int64 {
	t.Helper()
	err := b.Store.Update(t.Context(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Dead: []wire.QueuedJob{{Job: j, Attempts: 3, Cause: "no"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	dead, err := b.Store.Jobs(t.Context(), wire.JobQuery{Tenant: key.Tenant, State: wire.JobDead})
	if err != nil || len(dead) != 1 {
		t.Fatal(dead, err)
	}
	return dead[0].JobID
}

package spooltest

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// errRerun rolls back the first run of an update that runs twice.
var errRerun = errors.New("run again")

type faultyStore struct{ f *Faulty }

func (s faultyStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return s.f.call(ctx, "Store.Update", key.String(), func(kind FaultKind) error {
		if kind == Rerun {
			err := s.f.inner.Store.Update(ctx, key, fence, func(tx store.Tx) error {
				if err := fn(tx); err != nil {
					return err
				}
				return errRerun
			})
			if !errors.Is(err, errRerun) {
				return err
			}
		}
		return s.f.inner.Store.Update(ctx, key, fence, fn)
	})
}

func (s faultyStore) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	return s.f.call(ctx, "Store.View", key.String(), func(FaultKind) error {
		return s.f.inner.Store.View(ctx, key, fn)
	})
}

func (s faultyStore) Threads(ctx context.Context, q wire.ThreadQuery) ([]wire.Thread, error) {
	return ask(ctx, s.f, "Store.Threads", string(q.Tenant), func() ([]wire.Thread, error) {
		return s.f.inner.Store.Threads(ctx, q)
	})
}

func (s faultyStore) Runs(ctx context.Context, q wire.RunQuery) ([]store.RunRow, error) {
	return ask(ctx, s.f, "Store.Runs", string(q.Tenant), func() ([]store.RunRow, error) {
		return s.f.inner.Store.Runs(ctx, q)
	})
}

func (s faultyStore) Parks(ctx context.Context, q wire.ParkQuery) ([]store.ParkRow, error) {
	return ask(ctx, s.f, "Store.Parks", string(q.Tenant), func() ([]store.ParkRow, error) {
		return s.f.inner.Store.Parks(ctx, q)
	})
}

func (s faultyStore) Jobs(ctx context.Context, q wire.JobQuery) ([]wire.QueuedJob, error) {
	return ask(ctx, s.f, "Store.Jobs", string(q.Tenant), func() ([]wire.QueuedJob, error) {
		return s.f.inner.Store.Jobs(ctx, q)
	})
}

func (s faultyStore) Audit(ctx context.Context, q wire.AuditQuery) ([]wire.AuditEntry, error) {
	return ask(ctx, s.f, "Store.Audit", string(q.Tenant), func() ([]wire.AuditEntry, error) {
		return s.f.inner.Store.Audit(ctx, q)
	})
}

func (s faultyStore) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	return ask(ctx, s.f, "Store.Rows", string(q.Tenant), func() ([]store.Row, error) {
		return s.f.inner.Store.Rows(ctx, q)
	})
}

func (s faultyStore) Stats(ctx context.Context, q wire.StatsQuery) (wire.Stats, error) {
	return ask(ctx, s.f, "Store.Stats", string(q.Tenant), func() (wire.Stats, error) {
		return s.f.inner.Store.Stats(ctx, q)
	})
}

func (s faultyStore) Claim(
	ctx context.Context, q store.ClaimQuery,
) (taken []store.Delivery, next time.Time, err error) {
	err = s.f.call(ctx, "Store.Claim", "", func(kind FaultKind) (err error) {
		late := s.f.takeLate(q.Limit)
		if len(late) < q.Limit {
			rest := q
			rest.Limit -= len(late)
			taken, next, err = s.f.inner.Store.Claim(ctx, rest)
		}
		if err != nil {
			s.f.putLate(late)
			return err
		}
		if kind == Duplicate || kind == Delay {
			s.f.putLate(taken)
		}
		if kind == Delay {
			taken = nil
		}
		taken = append(late, taken...)
		return nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return taken, next, nil
}

// takeLate returns up to limit late deliveries.
func (f *Faulty) takeLate(limit int) []store.Delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(f.late), max(limit, 0))
	late := f.late[:n:n]
	f.late = f.late[n:]
	return late
}

func (f *Faulty) putLate(deliveries []store.Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, deliveries...)
}

func (s faultyStore) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	return s.f.call(ctx, "Store.Ack", string(d.RunID), func(FaultKind) error {
		return s.f.inner.Store.Ack(ctx, d, a)
	})
}

func (s faultyStore) Prune(ctx context.Context, q store.PruneQuery) (int, error) {
	return ask(ctx, s.f, "Store.Prune", string(q.Tenant), func() (int, error) {
		return s.f.inner.Store.Prune(ctx, q)
	})
}

// Check is not counted, because the engine may call it at any time. It fails after a crash.
func (s faultyStore) Check(ctx context.Context) error {
	select {
	case <-s.f.crashed:
		return s.f.failure("Store.Check", 0)
	default:
		return s.f.inner.Store.Check(ctx)
	}
}

func (s faultyStore) Close() error { return s.f.inner.Store.Close() }

// ask makes a call that has a result, as [Faulty.call] does. The result is zero if the call fails.
func ask[T any](ctx context.Context, f *Faulty, name, subject string, do func() (T, error)) (T, error) {
	var result T
	err := f.call(ctx, name, subject, func(FaultKind) (err error) {
		result, err = do()
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return result, nil
}

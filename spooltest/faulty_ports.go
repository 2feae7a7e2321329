package spooltest

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
)

// errRerun rolls back the first run of an update that runs twice.
var errRerun = errors.New("run again")

type faultyStore struct{ f *Faulty }

func (s faultyStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	return s.f.call(ctx, "Store.Update", key.String(), func(kind FaultKind) error {
		if kind == Rerun {
			err := s.f.inner.Store.Update(ctx, key, fence, func(tx spool.Tx) error {
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

func (s faultyStore) View(ctx context.Context, key spool.ThreadKey, fn func(spool.View) error) error {
	return s.f.call(ctx, "Store.View", key.String(), func(FaultKind) error {
		return s.f.inner.Store.View(ctx, key, fn)
	})
}

func (s faultyStore) Threads(ctx context.Context, tenant spool.Tenant, q spool.ThreadQuery) ([]spool.Thread, error) {
	return ask(ctx, s.f, "Store.Threads", string(tenant), func() ([]spool.Thread, error) {
		return s.f.inner.Store.Threads(ctx, tenant, q)
	})
}

func (s faultyStore) FindStart(ctx context.Context, tenant spool.Tenant, startKey string) (spool.RunRow, error) {
	return ask(ctx, s.f, "Store.FindStart", startKey, func() (spool.RunRow, error) {
		return s.f.inner.Store.FindStart(ctx, tenant, startKey)
	})
}

func (s faultyStore) Runs(ctx context.Context, tenant spool.Tenant, q spool.RunQuery) ([]spool.Run, error) {
	return ask(ctx, s.f, "Store.Runs", string(tenant), func() ([]spool.Run, error) {
		return s.f.inner.Store.Runs(ctx, tenant, q)
	})
}

func (s faultyStore) Tally(ctx context.Context, tenant spool.Tenant) (spool.Tally, error) {
	return ask(ctx, s.f, "Store.Tally", string(tenant), func() (spool.Tally, error) {
		return s.f.inner.Store.Tally(ctx, tenant)
	})
}

func (s faultyStore) Idle(ctx context.Context, q spool.IdleQuery) ([]spool.ThreadKey, error) {
	return ask(ctx, s.f, "Store.Idle", string(q.Tenant), func() ([]spool.ThreadKey, error) {
		return s.f.inner.Store.Idle(ctx, q)
	})
}

func (s faultyStore) Stranded(ctx context.Context, limit int) ([]spool.ThreadKey, error) {
	return ask(ctx, s.f, "Store.Stranded", "", func() ([]spool.ThreadKey, error) {
		return s.f.inner.Store.Stranded(ctx, limit)
	})
}

func (s faultyStore) Audit(ctx context.Context, tenant spool.Tenant, q spool.AuditQuery) ([]spool.AuditEntry, error) {
	return ask(ctx, s.f, "Store.Audit", string(tenant), func() ([]spool.AuditEntry, error) {
		return s.f.inner.Store.Audit(ctx, tenant, q)
	})
}

func (s faultyStore) PruneAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	return ask(ctx, s.f, "Store.PruneAudit", "", func() (int, error) {
		return s.f.inner.Store.PruneAudit(ctx, before, limit)
	})
}

func (s faultyStore) Close() error { return s.f.inner.Store.Close() }

type faultyQueue struct{ f *Faulty }

func (q faultyQueue) Claim(ctx context.Context, query spool.ClaimQuery) ([]spool.Delivery, time.Time, error) {
	var taken []spool.Delivery
	var next time.Time
	err := q.f.call(ctx, "Queue.Claim", "", func(kind FaultKind) (err error) {
		late := q.f.takeLate(query.Limit)
		if len(late) < query.Limit {
			rest := query
			rest.Limit -= len(late)
			taken, next, err = q.f.inner.Queue.Claim(ctx, rest)
		}
		if err != nil {
			q.f.putLate(late)
			return err
		}
		if kind == Duplicate || kind == Delay {
			q.f.putLate(taken)
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

func (q faultyQueue) Waiting(ctx context.Context) ([]spool.WaitingTenant, error) {
	return ask(ctx, q.f, "Queue.Waiting", "", func() ([]spool.WaitingTenant, error) {
		return q.f.inner.Queue.Waiting(ctx)
	})
}

// takeLate returns up to limit late deliveries.
func (f *Faulty) takeLate(limit int) []spool.Delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(f.late), max(limit, 0))
	late := f.late[:n:n]
	f.late = f.late[n:]
	return late
}

func (f *Faulty) putLate(deliveries []spool.Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, deliveries...)
}

func (q faultyQueue) Extend(ctx context.Context, d spool.Delivery, lease time.Duration) error {
	return q.f.call(ctx, "Queue.Extend", string(d.RunID), func(FaultKind) error {
		return q.f.inner.Queue.Extend(ctx, d, lease)
	})
}

func (q faultyQueue) Ack(ctx context.Context, d spool.Delivery) error {
	return q.f.call(ctx, "Queue.Ack", string(d.RunID), func(FaultKind) error {
		return q.f.inner.Queue.Ack(ctx, d)
	})
}

func (q faultyQueue) Release(ctx context.Context, d spool.Delivery, after time.Duration, refund bool) error {
	return q.f.call(ctx, "Queue.Release", string(d.RunID), func(FaultKind) error {
		return q.f.inner.Queue.Release(ctx, d, after, refund)
	})
}

func (q faultyQueue) DeadLetter(ctx context.Context, d spool.Delivery, cause string) error {
	return q.f.call(ctx, "Queue.DeadLetter", string(d.RunID), func(FaultKind) error {
		return q.f.inner.Queue.DeadLetter(ctx, d, cause)
	})
}

func (q faultyQueue) Dead(ctx context.Context, tenant spool.Tenant, query spool.DeadQuery) ([]spool.DeadJob, error) {
	return ask(ctx, q.f, "Queue.Dead", string(tenant), func() ([]spool.DeadJob, error) {
		return q.f.inner.Queue.Dead(ctx, tenant, query)
	})
}

func (q faultyQueue) Purge(ctx context.Context, tenant spool.Tenant, query spool.DeadQuery) (int, error) {
	return ask(ctx, q.f, "Queue.Purge", string(tenant), func() (int, error) {
		return q.f.inner.Queue.Purge(ctx, tenant, query)
	})
}

func (q faultyQueue) Jobs(ctx context.Context, tenant spool.Tenant, query spool.JobQuery) ([]spool.QueuedJob, error) {
	return ask(ctx, q.f, "Queue.Jobs", string(tenant), func() ([]spool.QueuedJob, error) {
		return q.f.inner.Queue.Jobs(ctx, tenant, query)
	})
}

func (q faultyQueue) Stats(ctx context.Context, tenant spool.Tenant) (spool.QueueStats, error) {
	return ask(ctx, q.f, "Queue.Stats", string(tenant), func() (spool.QueueStats, error) {
		return q.f.inner.Queue.Stats(ctx, tenant)
	})
}

type faultyStreams struct{ f *Faulty }

func (s faultyStreams) Open(ctx context.Context, key spool.StreamKey) error {
	return s.f.call(ctx, "Streams.Open", string(key.ID), func(FaultKind) error {
		return s.f.inner.Streams.Open(ctx, key)
	})
}

func (s faultyStreams) Append(ctx context.Context, key spool.StreamKey, items []spool.Item) error {
	return s.f.call(ctx, "Streams.Append", string(key.ID), func(FaultKind) error {
		return s.f.inner.Streams.Append(ctx, key, items)
	})
}

func (s faultyStreams) Read(
	ctx context.Context, key spool.StreamKey, after spool.Offset, limit int,
) (spool.StreamPage, error) {
	return ask(ctx, s.f, "Streams.Read", string(key.ID), func() (spool.StreamPage, error) {
		return s.f.inner.Streams.Read(ctx, key, after, limit)
	})
}

func (s faultyStreams) Close(ctx context.Context, key spool.StreamKey, end spool.Item, grace time.Duration) error {
	return s.f.call(ctx, "Streams.Close", string(key.ID), func(FaultKind) error {
		return s.f.inner.Streams.Close(ctx, key, end, grace)
	})
}

func (s faultyStreams) Delete(ctx context.Context, thread spool.ThreadKey) error {
	return s.f.call(ctx, "Streams.Delete", thread.String(), func(FaultKind) error {
		return s.f.inner.Streams.Delete(ctx, thread)
	})
}

type faultyBus struct{ f *Faulty }

func (b faultyBus) Wake(topic spool.ThreadKey, kind spool.WakeKind) {
	if !b.f.silent() {
		b.f.inner.Bus.Wake(topic, kind)
	}
}

// Subscribe also loses wake-ups that come from another process.
func (b faultyBus) Subscribe(ctx context.Context, topic spool.ThreadKey, fn func(spool.WakeKind)) (func(), error) {
	return b.f.inner.Bus.Subscribe(ctx, topic, func(kind spool.WakeKind) {
		if !b.f.silent() {
			fn(kind)
		}
	})
}

// Notify loses a notice whenever the bus loses wake-ups.
func (b faultyBus) Notify(topic spool.ThreadKey, notice []byte) {
	if !b.f.silent() {
		b.f.inner.Bus.Notify(topic, notice)
	}
}

// Listen also loses notices that come from another process.
func (b faultyBus) Listen(ctx context.Context, topic spool.ThreadKey, fn func([]byte)) (func(), error) {
	return b.f.inner.Bus.Listen(ctx, topic, func(notice []byte) {
		if !b.f.silent() {
			fn(notice)
		}
	})
}

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

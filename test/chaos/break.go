//go:build unix

package main

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// breaks are the protections that can be taken out of the nodes, one at a time, to see that the campaign notices.
//
//   - fence: a worker may write after it has lost its lease.
//   - token: a worker may acknowledge a job that another worker has claimed.
//   - park: every park looks open, so that an answer counts again.
//   - ledger: the effect ledger looks empty, so that nobody knows of a call that was running.
//   - lease: a worker does not look at its lease before a call.
var breaks = []string{"fence", "token", "park", "ledger", "lease"}

// breakStore returns the store without the protection that the configuration names.
func breakStore(ctx context.Context, db store.Store, c nodeConfig) (store.Store, error) {
	switch c.Break {
	case "fence":
		return &unfenced{Store: db, taken: make(map[spool.ThreadKey]int64)}, nil
	case "token":
		pool, err := pgxpool.New(ctx, c.Database)
		return untokened{db, pool}, err
	case "park":
		return forgetful{db}, nil
	case "ledger":
		return ignorant{db}, nil
	case "lease":
		return newTrusting(ctx, db, c.Lease), nil
	default:
		return db, nil
	}
}

// unfenced lets writers of old leases write. An engine compares the fence wherever it reads the thread, too. So
// this shows each worker the fence that it has taken itself.
type unfenced struct {
	store.Store

	mu sync.Mutex
	// taken has the fences that this process has taken.
	taken map[spool.ThreadKey]int64
}

// Update implements [store.Store].
func (s *unfenced) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if fence > 0 {
		return s.Store.Update(ctx, key, 0, func(tx store.Tx) error { return fn(&unfencedTx{Tx: tx, own: fence}) })
	}
	var took int64
	err := s.Store.Update(ctx, key, 0, func(tx store.Tx) error {
		before, err := tx.Thread()
		if spool.CodeOf(err) == spool.NotFound {
			return fn(tx)
		}
		if err == nil {
			err = fn(tx)
		}
		if err != nil {
			return err
		}
		after, err := tx.Thread()
		if err == nil && after.Fence > before.Fence {
			took = after.Fence
		}
		return nil
	})
	if err == nil && took > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken[key] = took
	}
	return err
}

// View implements [store.Store].
func (s *unfenced) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	s.mu.Lock()
	own := s.taken[key]
	s.mu.Unlock()
	return s.Store.View(ctx, key, func(v store.View) error {
		if own > 0 {
			v = unfencedView{v, own}
		}
		return fn(v)
	})
}

type unfencedView struct {
	store.View

	own int64
}

// Thread implements [store.View].
func (v unfencedView) Thread() (wire.Thread, error) {
	thread, err := v.View.Thread()
	thread.Fence = v.own
	return thread, err
}

// unfencedTx shows a writer its own fence in place of the thread's.
type unfencedTx struct {
	store.Tx

	own, real int64
}

// Thread implements [store.View].
func (t *unfencedTx) Thread() (wire.Thread, error) {
	thread, err := t.Tx.Thread()
	if err == nil {
		t.real, thread.Fence = thread.Fence, t.own
	}
	return thread, err
}

// Write implements [store.Tx].
func (t *unfencedTx) Write(c store.Changes) error {
	if c.Thread != nil && t.real > 0 {
		thread := *c.Thread
		thread.Fence += t.real - t.own
		c.Thread = &thread
	}
	return t.Tx.Write(c)
}

// untokened acknowledges jobs without a look at the token.
type untokened struct {
	store.Store

	pool *pgxpool.Pool
}

// Ack implements [store.Store].
func (s untokened) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	const until = `due_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2`
	var sql string
	args := []any{d.JobID}
	switch a.Kind {
	case store.AckDone:
		sql = `DELETE FROM spool.job WHERE id = $1`
	case store.AckExtend:
		sql, args = `UPDATE spool.job SET `+until+` WHERE id = $1`, append(args, a.After.Microseconds())
	case store.AckRelease:
		sql, args = `UPDATE spool.job SET claimed = false, token = token + 1, `+until+` WHERE id = $1`,
			append(args, a.After.Microseconds())
	default:
		return s.Store.Ack(ctx, d, a)
	}
	tag, err := s.pool.Exec(ctx, sql, args...)
	switch {
	case err != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "Storage is not available", Err: err}
	case tag.RowsAffected() == 0:
		return store.ErrFenced
	default:
		return nil
	}
}

// forgetful is a store that shows answered parks as open, until the transaction writes.
type forgetful struct{ store.Store }

// Update implements [store.Store].
func (s forgetful) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, key, fence, func(tx store.Tx) error { return fn(&forgetfulTx{Tx: tx}) })
}

type forgetfulTx struct {
	store.Tx

	wrote bool
}

// Parks implements [store.View].
func (t *forgetfulTx) Parks(run spool.RunID) ([]store.Park, error) {
	parks, err := t.Tx.Parks(run)
	for i := range parks {
		if parks[i].State == wire.ParkAnswered && !parks[i].Landed && !t.wrote {
			parks[i].State, parks[i].Answer = wire.ParkOpen, nil
		}
	}
	return parks, err
}

// Write implements [store.Tx].
func (t *forgetfulTx) Write(c store.Changes) error {
	t.wrote = true
	return t.Tx.Write(c)
}

// ignorant is a store without a ledger of effects.
type ignorant struct{ store.Store }

// Update implements [store.Store].
func (s ignorant) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, key, fence, func(tx store.Tx) error { return fn(ignorantTx{tx}) })
}

type ignorantTx struct{ store.Tx }

// Effects implements [store.View].
func (ignorantTx) Effects(spool.RunID, int) ([]store.Effect, error) { return nil, nil }

// View implements [store.Store].
func (s ignorant) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	return s.Store.View(ctx, key, func(v store.View) error { return fn(ignorantView{v}) })
}

type ignorantView struct{ store.View }

// Effects implements [store.View].
func (ignorantView) Effects(spool.RunID, int) ([]store.Effect, error) { return nil, nil }

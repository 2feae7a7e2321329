//go:build unix

package main

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
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
func breakStore(ctx context.Context, db spool.Store, c nodeConfig) (spool.Store, error) {
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
	spool.Store

	mu sync.Mutex
	// taken has the fences that this process has taken.
	taken map[spool.ThreadKey]int64
}

// Update implements [spool.Store].
func (s *unfenced) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	if fence > 0 {
		return s.Store.Update(ctx, key, 0, func(tx spool.Tx) error { return fn(&unfencedTx{Tx: tx, own: fence}) })
	}
	var took int64
	err := s.Store.Update(ctx, key, 0, func(tx spool.Tx) error {
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

// View implements [spool.Store].
func (s *unfenced) View(ctx context.Context, key spool.ThreadKey, fn func(spool.View) error) error {
	s.mu.Lock()
	own := s.taken[key]
	s.mu.Unlock()
	return s.Store.View(ctx, key, func(v spool.View) error {
		if own > 0 {
			v = unfencedView{v, own}
		}
		return fn(v)
	})
}

type unfencedView struct {
	spool.View

	own int64
}

// Thread implements [spool.View].
func (v unfencedView) Thread() (spool.Thread, error) {
	thread, err := v.View.Thread()
	thread.Fence = v.own
	return thread, err
}

// unfencedTx shows a writer its own fence in place of the thread's.
type unfencedTx struct {
	spool.Tx

	own, real int64
}

// Thread implements [spool.View].
func (t *unfencedTx) Thread() (spool.Thread, error) {
	thread, err := t.Tx.Thread()
	if err == nil {
		t.real, thread.Fence = thread.Fence, t.own
	}
	return thread, err
}

// Write implements [spool.Tx].
func (t *unfencedTx) Write(c spool.Changes) error {
	if c.Thread != nil && t.real > 0 {
		thread := *c.Thread
		thread.Fence += t.real - t.own
		c.Thread = &thread
	}
	return t.Tx.Write(c)
}

// untokened acknowledges jobs without a look at the token.
type untokened struct {
	spool.Store

	pool *pgxpool.Pool
}

// Ack implements [spool.Store].
func (s untokened) Ack(ctx context.Context, d spool.Delivery, a spool.Ack) error {
	const until = `due_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2`
	var sql string
	args := []any{d.JobID}
	switch a.Kind {
	case spool.AckDone:
		sql = `DELETE FROM spool.job WHERE id = $1`
	case spool.AckExtend:
		sql, args = `UPDATE spool.job SET `+until+` WHERE id = $1`, append(args, a.After.Microseconds())
	case spool.AckRelease:
		sql, args = `UPDATE spool.job SET claimed = false, token = token + 1, `+until+` WHERE id = $1`, append(args, a.After.Microseconds())
	default:
		return s.Store.Ack(ctx, d, a)
	}
	tag, err := s.pool.Exec(ctx, sql, args...)
	switch {
	case err != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "Storage is not available", Err: err}
	case tag.RowsAffected() == 0:
		return spool.ErrFenced
	default:
		return nil
	}
}

// forgetful is a store that shows answered parks as open, until the transaction writes.
type forgetful struct{ spool.Store }

// Update implements [spool.Store].
func (s forgetful) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	return s.Store.Update(ctx, key, fence, func(tx spool.Tx) error { return fn(&forgetfulTx{Tx: tx}) })
}

type forgetfulTx struct {
	spool.Tx

	wrote bool
}

// Parks implements [spool.View].
func (t *forgetfulTx) Parks(run spool.RunID) ([]spool.Park, error) {
	parks, err := t.Tx.Parks(run)
	for i := range parks {
		if parks[i].State == spool.ParkAnswered && !parks[i].Landed && !t.wrote {
			parks[i].State, parks[i].Answer = spool.ParkOpen, nil
		}
	}
	return parks, err
}

// Write implements [spool.Tx].
func (t *forgetfulTx) Write(c spool.Changes) error {
	t.wrote = true
	return t.Tx.Write(c)
}

// ignorant is a store without a ledger of effects.
type ignorant struct{ spool.Store }

// Update implements [spool.Store].
func (s ignorant) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	return s.Store.Update(ctx, key, fence, func(tx spool.Tx) error { return fn(ignorantTx{tx}) })
}

type ignorantTx struct{ spool.Tx }

// Effects implements [spool.View].
func (ignorantTx) Effects(spool.RunID, int) ([]spool.Effect, error) { return nil, nil }

// View implements [spool.Store].
func (s ignorant) View(ctx context.Context, key spool.ThreadKey, fn func(spool.View) error) error {
	return s.Store.View(ctx, key, func(v spool.View) error { return fn(ignorantView{v}) })
}

type ignorantView struct{ spool.View }

// Effects implements [spool.View].
func (ignorantView) Effects(spool.RunID, int) ([]spool.Effect, error) { return nil, nil }

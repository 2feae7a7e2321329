//go:build unix

package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
)

// breaks are the protections that can be taken out of the nodes, one at a time, to see that the campaign notices.
//
//   - fence: a worker may write after it has lost its lease.
//   - token: a worker may acknowledge a job that another worker has claimed.
//   - park: every park looks open, so that an answer counts again.
//   - ledger: the effect ledger looks empty, so that nobody knows of a call that was running.
var breaks = []string{"fence", "token", "park", "ledger"}

// breakStore returns the store without the protection that the configuration names.
func breakStore(ctx context.Context, store spool.Store, c nodeConfig) (spool.Store, error) {
	switch c.Break {
	case "fence":
		return unfenced{store}, nil
	case "token":
		pool, err := pgxpool.New(ctx, c.Database)
		return untokened{store, pool}, err
	case "park":
		return seen{store, func(v spool.View) spool.View { return openParks{v} }}, nil
	case "ledger":
		return seen{store, func(v spool.View) spool.View { return noEffects{v} }}, nil
	default:
		return store, nil
	}
}

// unfenced lets writers of old leases write.
type unfenced struct{ spool.Store }

// Update implements [spool.Store].
func (s unfenced) Update(ctx context.Context, key spool.ThreadKey, _ int64, fn func(spool.Tx) error) error {
	return s.Store.Update(ctx, key, 0, fn)
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

// seen is a store whose views show something else.
type seen struct {
	spool.Store

	as func(spool.View) spool.View
}

// Update implements [spool.Store].
func (s seen) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	return s.Store.Update(ctx, key, fence, func(tx spool.Tx) error { return fn(seenTx{s.as(tx), tx}) })
}

// View implements [spool.Store].
func (s seen) View(ctx context.Context, key spool.ThreadKey, fn func(spool.View) error) error {
	return s.Store.View(ctx, key, func(v spool.View) error { return fn(s.as(v)) })
}

type seenTx struct {
	spool.View

	tx spool.Tx
}

// Write implements [spool.Tx].
func (t seenTx) Write(c spool.Changes) error { return t.tx.Write(c) }

type openParks struct{ spool.View }

// Parks implements [spool.View].
func (v openParks) Parks(run spool.RunID) ([]spool.Park, error) {
	parks, err := v.View.Parks(run)
	for i := range parks {
		if parks[i].State == spool.ParkAnswered && !parks[i].Landed {
			parks[i].State, parks[i].Answer = spool.ParkOpen, nil
		}
	}
	return parks, err
}

type noEffects struct{ spool.View }

// Effects implements [spool.View].
func (noEffects) Effects(spool.RunID, int) ([]spool.Effect, error) { return nil, nil }

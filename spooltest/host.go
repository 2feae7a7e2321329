package spooltest

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Host runs transactions of a host on the database of a backend. It has a table of its own there, with numbers
// that are unique.
type Host interface {
	// Transact runs fn in a new transaction and commits it. If fn fails or panics, it rolls back. It returns
	// fn's error.
	Transact(ctx context.Context, fn func(tx HostTx) error) error
	// Numbers returns the numbers of the host's table, in order.
	Numbers(ctx context.Context) ([]int, error)
}

// HostTx is a transaction of a [Host].
type HostTx struct {
	// HostTx is the transaction for an engine.
	store.HostTx

	// Insert adds a number to the host's table.
	Insert func(number int) error
}

// Hosted returns the store with its updates in transactions of the host. Updates with a fence, and those whose
// context has ended, stay as they are. It is for [TestStore].
func Hosted(db store.Store, host Host) store.Store { return hosted{db, host} }

type hosted struct {
	store.Store

	host Host
}

func (h hosted) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	if fence != 0 || ctx.Err() != nil {
		return h.Store.Update(ctx, key, fence, fn)
	}
	return h.host.Transact(ctx, func(tx HostTx) error { return tx.Update(ctx, key, fn) })
}

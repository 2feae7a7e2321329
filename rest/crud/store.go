package crud

import (
	"context"

	"github.com/spoolhq/spool/rest/query"
)

// Store keeps the rows of a model T with keys of type K. [Memory] is one, and so are
// bunquery.Store and gormquery.Store; crudtest.TestStore checks that a store keeps this
// contract. It is safe for concurrent use.
//
// A row that breaks a constraint of the store is refused with a [*ConstraintError], which
// leaves nothing of it. Fields are named by their logical names (see package query).
type Store[T, K any] interface {
	// Set returns all rows as a list that is read later. With the context of a transaction,
	// it is read in that.
	Set(ctx context.Context) query.Set[T]

	// Get returns the row with the key, or [rest.ErrNotFound]. With the context of a
	// transaction, nobody else changes or deletes the row until that ends.
	Get(ctx context.Context, key K) (T, error)

	// Insert stores a new row. A zero key is filled in by the store, and so is what else it
	// decides itself: afterwards row is what Get would return.
	Insert(ctx context.Context, row *T) error

	// Update stores the fields of row for the key, or returns [rest.ErrNotFound]. Without
	// fields that is all of them but the key, and zero values too. Afterwards row is what
	// Get would return.
	Update(ctx context.Context, key K, row *T, fields []string) error

	// Delete removes the row, or returns [rest.ErrNotFound]. Whether it is kept somewhere
	// else as deleted is the store's business.
	Delete(ctx context.Context, key K) error

	// Tx calls f with a context of which everything that is done with this store is one
	// transaction: it happens when f returns nil, and not at all when f returns an error,
	// which Tx returns. In the context of a transaction of the same store, Tx is part of
	// that one. Transactions of which the second waits for the first may be refused by a
	// database; they do not lose each other's writes.
	Tx(ctx context.Context, f func(ctx context.Context) error) error
}

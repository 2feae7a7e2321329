package crud

import (
	"context"

	"github.com/spoolhq/spool/rest/query"
)

// Store stores the rows of a model T with keys of type K. [Memory], bunquery.Store and
// gormquery.Store return one. crudtest.TestStore tests this contract. A Store is safe for
// concurrent use.
//
// If a row violates a constraint of the store, the error is a [*ConstraintError] and nothing
// is written. Fields are named by their logical names (see package query).
type Store[T, K any] interface {
	// Set returns all rows as a lazy list. If ctx belongs to a transaction, the list is read
	// in it.
	Set(ctx context.Context) query.Set[T]

	// Get returns the row with the key, or [rest.ErrNotFound]. In a transaction, no other
	// writer changes or deletes the row until the transaction ends.
	Get(ctx context.Context, key K) (T, error)

	// Insert stores a new row. The store sets a zero key, and any other values that it
	// generates. Afterwards row is what Get would return.
	Insert(ctx context.Context, row *T) error

	// Update stores the named fields of row for the key, or returns [rest.ErrNotFound]. Nil
	// fields means all except the key, including zero values. Afterwards row is what Get would
	// return.
	Update(ctx context.Context, key K, row *T, fields []string) error

	// Delete removes the row, or returns [rest.ErrNotFound]. A store may implement it as a
	// soft delete.
	Delete(ctx context.Context, key K) error

	// Tx calls f in a transaction: everything that f does with this store and its context is
	// written if f returns nil. If f returns an error, nothing is written and Tx returns the
	// error. In the context of a transaction of the same store, Tx joins that transaction. If
	// transactions conflict, a database may refuse one of them, but no write is lost.
	Tx(ctx context.Context, f func(ctx context.Context) error) error
}

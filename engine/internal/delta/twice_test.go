package delta_test

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// twice is a store that rolls the first run of each transaction back.
type twice struct{ store.Store }

var errAgain = errors.New("again")

// Update implements [store.Store].
func (s *twice) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	err := s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return errAgain
	})
	if !errors.Is(err, errAgain) {
		return err
	}
	return s.Store.Update(ctx, key, fence, fn)
}

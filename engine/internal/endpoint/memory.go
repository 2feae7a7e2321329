package endpoint

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
)

// maxAge is how old what a node knows of endpoints is when a transaction begins.
const maxAge = time.Second

// cell is a value of the store that is read again when it is too old.
type cell[T any] struct {
	reading chan struct{} // holds one token while somebody reads
	last    atomic.Pointer[known[T]]
}

// known is a value, and when its read began.
type known[T any] struct {
	value T
	since time.Time
}

func newCell[T any]() *cell[T] { return &cell[T]{reading: make(chan struct{}, 1)} }

// get returns the value, and reads it first if it is too old. One caller reads, and the others wait for it.
func (c *cell[T]) get(ctx context.Context, read func(ctx context.Context) (T, error)) (T, error) {
	asked := time.Now()
	if k := c.last.Load(); k.fresh() {
		return k.value, nil
	}
	var none T
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return none, spool.Wrap(spool.Canceled, "the endpoints of webhooks were not read", context.Cause(ctx))
	}
	// A read that has begun since has all that this caller needs, however long it took.
	if k := c.last.Load(); k.fresh() || k != nil && !k.since.Before(asked) {
		return k.value, nil
	}
	since := time.Now()
	value, err := read(ctx)
	if err != nil {
		return none, err
	}
	c.last.Store(&known[T]{value, since})
	return value, nil
}

// forget has the value read again. A read that is under way may have begun before.
func (c *cell[T]) forget() {
	c.reading <- struct{}{}
	c.last.Store(nil)
	<-c.reading
}

// fresh reports whether a transaction may use the value. The longer of two times counts, because the monotonic clock
// may stand still while the machine sleeps: see docs/design/0033.
func (k *known[T]) fresh() bool {
	if k == nil {
		return false
	}
	now := time.Now()
	return max(now.Sub(k.since), now.Round(0).Sub(k.since.Round(0))) < maxAge
}

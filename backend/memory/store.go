package memory

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

type port struct{ *memory }

var _ store.Store = port{}

// Update runs one update at a time, across all threads.
func (s port) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return canceled(ctx)
	}
	defer func() { <-s.writer }()

	tx := &transaction{view: s.view(key), store: s.memory}
	defer tx.end()
	if fence > 0 && (tx.data.thread == nil || tx.data.thread.Fence != fence) {
		return store.ErrFenced
	}
	tx.data = tx.data.fork()
	if err := fn(tx); err != nil {
		return err
	}
	if tx.failed != nil {
		return tx.failed
	}
	if err := canceled(ctx); err != nil {
		return err
	}
	s.commit(tx)
	return nil
}

// View runs fn over the last committed state of the thread.
func (s port) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	v := s.view(key)
	defer v.end()
	return fn(v)
}

// Check finds nothing wrong: the memory is always there.
func (s port) Check(ctx context.Context) error { return canceled(ctx) }

// Close does nothing, so that another engine can use the backend.
func (port) Close() error { return nil }

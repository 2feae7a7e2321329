package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// UserTurns returns the thread, and the user turns in its view without their contents. It returns a
// [spool.NotFound] error for a thread that does not exist.
func (w *Watcher) UserTurns(
	ctx context.Context, key spool.ThreadKey,
) (thread wire.Thread, turns []spool.Message, err error) {
	err = record.View(ctx, w.store, key, func(v store.View, t wire.Thread) error {
		thread, turns = t, nil
		q := store.MessageQuery{Role: spool.RoleUser, Agent: &record.MainAgent}
		return record.Encoded(v).EachMessage(q, func(m spool.Message, _ []byte) error {
			m.Content = nil
			turns = append(turns, m)
			return nil
		})
	})
	return thread, turns, err
}

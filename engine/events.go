package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/inspect"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Events returns the durable events that an application has published on the thread. It returns an
// [spool.Invalid] error for a wrong query, and a [spool.NotFound] error for a thread that does not
// exist.
func (w *Watcher) Events(ctx context.Context, key spool.ThreadKey, q wire.EventQuery) (page wire.EventPage, err error) {
	if q, err = inspect.CheckEvents(q); err != nil {
		return wire.EventPage{}, err
	}
	page.Events = []wire.Entry{}
	err = record.View(ctx, w.store, key, func(v store.View, _ wire.Thread) (err error) {
		page, err = inspect.Events(v, q)
		return err
	})
	return page, err
}

package live

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// A thread that is deleted may be made again under its id. CreatedAt tells the two apart, and
// whoever follows the first must not be shown the second.

// checkItems returns [errThreadGone] if items that were read may be of another thread, whose run
// and stream can have the same ids. The hub's walker looks only once it was told of a deletion:
// it reads each delta, and a look costs more than that.
func (w *walker) checkItems(ctx context.Context, page spool.StreamPage) error {
	if len(page.Items) == 0 || w.deleted != nil && !w.deleted.Load() {
		return nil
	}
	return w.from.Store.View(ctx, w.key, func(v spool.View) error { return record.SameThread(v, w.made) })
}

// readThread returns a thread as the actor of the context may see it, or a [spool.NotFound] error.
func readThread(ctx context.Context, store Store, key spool.ThreadKey) (thread spool.Thread, err error) {
	err = store.View(ctx, key, func(v spool.View) error {
		thread, err = v.Thread()
		return err
	})
	return thread, record.NotFound(err)
}

package engine

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
)

// A thread that is deleted may be made again under its id. CreatedAt tells the two apart, and
// whoever follows the first must not be shown the second.

// errThreadGone says that the thread was deleted, whether another one was made under its id or not.
var errThreadGone = spool.Errorf(spool.NotFound, threadNotFound)

// checkSame returns [errThreadGone] for a thread that was made at another time. A zero time
// stands for any thread.
func checkSame(thread spool.Thread, made time.Time) error {
	if made.IsZero() || thread.CreatedAt.Equal(made) {
		return nil
	}
	return errThreadGone
}

// sameThread is checkSame for the thread of a view.
func sameThread(v spool.View, made time.Time) error {
	if made.IsZero() {
		return nil
	}
	thread, err := v.Thread()
	switch {
	case missing(err):
		return errThreadGone
	case err != nil:
		return err
	default:
		return checkSame(thread, made)
	}
}

// checkItems returns [errThreadGone] if items that were read may be of another thread, whose run
// and stream can have the same ids. The hub's walker looks only once it was told of a deletion:
// it reads each delta, and a look costs more than that.
func (w *walker) checkItems(ctx context.Context, page spool.StreamPage) error {
	if len(page.Items) == 0 || w.deleted != nil && !w.deleted.Load() {
		return nil
	}
	return w.e.store.View(ctx, w.key, func(v spool.View) error { return sameThread(v, w.made) })
}

package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/inspect"
	"github.com/spoolhq/spool/engine/internal/live"
)

// Await waits until a run of the thread has ended or needs an answer, and returns its outcome:
// [Outcome.State] is terminal, or [Outcome.Parks] is not empty. It also waits for a run that waits for
// its thread or for a worker. A key without a thread id stands for the run's own thread.
//
// The wait takes no transaction and no slot of a worker. All waits and followers of one thread in this
// process share one reader of the thread. When ctx ends, Await returns its error and the run goes on.
// It returns a [spool.NotFound] error for a run that does not exist, also once its thread is deleted,
// and an [spool.Unavailable] error when the engine is closed.
func (w *Watcher) Await(ctx context.Context, key spool.ThreadKey, id spool.RunID) (Outcome, error) {
	key, err := w.reader.Key(ctx, key, id)
	if err != nil {
		return Outcome{}, err
	}
	var o Outcome
	err = w.live.Await(ctx, key, id, func() (root spool.RunID, over bool, err error) {
		o, root, err = w.reader.Outcome(ctx, key, id)
		return root, inspect.Settled(o), err
	})
	switch {
	case errors.Is(err, live.ErrDeleted):
		return Outcome{}, inspect.ErrNoRun
	case err != nil:
		return Outcome{}, err
	default:
		return o, nil
	}
}

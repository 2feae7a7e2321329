package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/inspect"
	"github.com/spoolhq/spool/engine/internal/live"
)

// Await waits until a run of the thread has ended, or until it cannot go on before somebody
// answers it, and returns what it has come to: [Outcome.State] is terminal then, or
// [Outcome.Parks] is not empty. A run that waits for its thread or for a worker is waited for as
// well. A key without a thread id stands for the run's own thread.
//
// Nothing is held while it waits: no transaction, no worker's slot, and all who wait for runs of
// one thread in this process share one reader of it with those who follow the thread. When ctx
// ends, Await returns its error and the run goes on. It returns a [spool.NotFound] error for a
// run that is not there, also once its thread is deleted, and an [spool.Unavailable] one when
// the engine is closed.
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

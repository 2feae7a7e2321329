package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/inspect"
	"github.com/spoolhq/spool/engine/internal/live"
	"github.com/spoolhq/spool/wire"
)

// Await waits until a run of the thread has ended or needs an answer, and returns its outcome:
// [Outcome.State] is terminal, or [Outcome.Parks] is not empty. A run that is still waiting for its
// thread or for a worker keeps Await waiting too. A key without a thread id stands for the run's own
// thread.
//
// The wait needs no open transaction and no worker's slot. All waits and followers of one thread in
// this process share one reader of the thread. When ctx ends, Await returns its error and the run goes
// on. Await returns a [spool.NotFound] error for a run that does not exist or whose thread was deleted,
// and an [spool.Unavailable] error when the engine is closed.
func (w *Watcher) Await(ctx context.Context, key spool.ThreadKey, id spool.RunID) (wire.RunOutcome, error) {
	key, err := w.reader.Key(ctx, key, id)
	if err != nil {
		return wire.RunOutcome{}, err
	}
	var o wire.RunOutcome
	err = w.live.Await(ctx, key, id, func() (root spool.RunID, over bool, err error) {
		o, root, err = w.reader.Outcome(ctx, key, id)
		return root, inspect.Settled(o), err
	})
	switch {
	case errors.Is(err, live.ErrDeleted):
		return wire.RunOutcome{}, inspect.ErrNoRun
	case err != nil:
		return wire.RunOutcome{}, err
	default:
		return o, nil
	}
}

package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// change carries out a transition of a thread that no lease protects, and tells the clients that
// watch the thread. It returns what the transition returns; the transition may run twice.
func change[T any](ctx context.Context, e *Engine, key spool.ThreadKey, transition func(tx *thread.Tx) (T, error)) (T, error) {
	var result T
	var follow thread.Follow
	err := e.store.Update(ctx, key, 0, func(store spool.Tx) error {
		tx, err := thread.Open(store, e.rules)
		if err != nil {
			return err
		}
		result, err = transition(tx)
		if follow = tx.Follow; err != nil {
			return err
		}
		return actor.Audit(ctx, store, key.Tenant, follow.Audit...)
	})
	if err == nil {
		actor.Log(ctx, e.config.Log, follow.Audit...)
		e.announce(key, follow.Jobs)
	}
	return result, err
}

// announce tells the clients that watch the thread that it has changed, and workers, where other
// runs than its own have got jobs.
func (e *Engine) announce(key spool.ThreadKey, jobs bool) {
	e.bus.Wake(key, spool.WakeRecord)
	if jobs {
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
}

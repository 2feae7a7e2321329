// Package change runs transitions of threads without a lease.
package change

import (
	"context"
	"log/slog"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
)

// Threads runs transitions on a store's threads.
type Threads struct {
	Store store.Store
	Live  store.Live
	Log   *slog.Logger
	Rules thread.Rules
}

// Update runs a transition, which the store may run twice, and returns its result. Then it tells the
// clients that watch the thread.
func Update[T any](
	ctx context.Context, t *Threads, key spool.ThreadKey, transition func(tx *thread.Tx) (T, error),
) (T, error) {
	var result T
	var follow thread.Follow
	err := t.Store.Update(ctx, key, 0, func(db store.Tx) error {
		tx, err := thread.Open(db, t.Rules)
		if err != nil {
			return err
		}
		result, err = transition(tx)
		if follow = tx.Follow; err != nil {
			return err
		}
		return actor.Audit(ctx, db, key.Tenant, follow.Audit...)
	})
	if err == nil {
		actor.Log(ctx, t.Log, follow.Audit...)
		t.Announce(key, follow.Jobs)
	}
	return result, err
}

// Announce tells the clients that watch the thread that it has changed. If jobs is true, it wakes
// workers too.
func (t *Threads) Announce(key spool.ThreadKey, jobs bool) {
	t.Live.Wake(key, store.WakeRecord, nil)
	if jobs {
		t.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	}
}

// Concerning returns a logger whose lines name the thread and, if run is not empty, the run.
func (t *Threads) Concerning(key spool.ThreadKey, run spool.RunID) *slog.Logger {
	log := t.Log.With("tenant", string(key.Tenant), "thread", string(key.ID))
	if run != "" {
		log = log.With("run", string(run))
	}
	return log
}

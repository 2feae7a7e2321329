package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Outcome returns the current outcome of a run of the thread. A key without a thread id stands for the
// run's own thread. Outcome returns a [spool.NotFound] error for a run that does not exist or whose
// thread was deleted.
func (w *Watcher) Outcome(ctx context.Context, key spool.ThreadKey, id spool.RunID) (wire.RunOutcome, error) {
	key, err := w.reader.Key(ctx, key, id)
	if err != nil {
		return wire.RunOutcome{}, err
	}
	o, _, err := w.reader.Outcome(ctx, key, id)
	return o, err
}

// Parks returns what a dispatched run of the thread and its nested runs have asked, the oldest question first, and what
// became of it. It is empty for a run that the thread does not have. Parks returns a [spool.NotFound] error for a
// thread that does not exist.
func (w *Watcher) Parks(ctx context.Context, key spool.ThreadKey, run spool.RunID) ([]wire.ParkDetail, error) {
	return w.reader.Parks(ctx, key, run)
}

// RunDetail returns a run with its steps, record, parks and usage. It returns a [spool.NotFound] error
// for a run that the tenant does not have.
func (a *Admin) RunDetail(ctx context.Context, tenant spool.Tenant, id spool.RunID) (wire.RunDetail, error) {
	return a.reader.Detail(ctx, tenant, id)
}

package engine

import (
	"context"

	"github.com/spoolhq/spool/wire"
)

// Prune removes threads that have not changed for a while, with their runs, messages, record, parks,
// ledger, run streams and dead jobs. It keeps every thread that has an active run, a worker or a job,
// such as an open settlement. It also keeps a thread that changes meanwhile.
//
// Prune removes one thread after another. It returns an [spool.Invalid] error for wrong options. After
// any other error, the threads in the report have been removed.
func (a *Admin) Prune(ctx context.Context, o wire.PruneOptions) (wire.PruneReport, error) {
	return a.remover.Prune(ctx, o)
}

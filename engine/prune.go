package engine

import "context"

// Prune removes threads in which nothing has happened for a while, with their runs, messages, record,
// parks, ledger, run streams and dead jobs. It keeps every thread that has an active run, a worker or a
// job, such as an open settlement. A thread that changes meanwhile stays.
//
// Prune removes one thread after another. It returns an [spool.Invalid] error for wrong options. After
// any other error, the threads in the report are gone.
func (a *Admin) Prune(ctx context.Context, o PruneOptions) (PruneReport, error) {
	return a.remover.Prune(ctx, o)
}

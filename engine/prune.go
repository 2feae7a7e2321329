package engine

import "context"

// Prune removes threads in which nothing has happened for a while, each whole: with its
// runs, messages, record, parks, ledger, run streams and dead jobs. It keeps every thread
// that has an active run, a worker or a job, of which a settlement that is still to be done
// is one. A thread whose turn it was and that moves meanwhile stays.
//
// Prune goes thread by thread. It returns an [spool.Invalid] error for options that make no
// sense; after any other error, what the report names is gone.
func (a *Admin) Prune(ctx context.Context, o PruneOptions) (PruneReport, error) {
	return a.remover.Prune(ctx, o)
}

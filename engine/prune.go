package engine

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

const (
	// prunePage is how many threads a prune looks at where it is not told.
	prunePage = 1000
	// retentionPage is how many threads a sweep prunes, so that it never takes long.
	retentionPage = 100
)

// Prune removes threads in which nothing has happened for a while, each whole: with its
// runs, messages, record, parks, ledger, run streams and dead jobs. It keeps every thread
// that has an active run, a worker or a job, of which a settlement that is still to be done
// is one. A thread whose turn it was and that moves meanwhile stays.
//
// Prune goes thread by thread. It returns an [spool.Invalid] error for options that make no
// sense; after any other error, what the report names is gone.
func (e *Engine) Prune(ctx context.Context, o PruneOptions) (PruneReport, error) {
	return e.pruneFor(ctx, o, "")
}

// pruneFor is Prune with the reason that the audit log has.
func (e *Engine) pruneFor(ctx context.Context, o PruneOptions, reason string) (PruneReport, error) {
	report := PruneReport{Threads: []spool.ThreadKey{}}
	switch {
	case o.Before.IsZero():
		return report, spool.Errorf(spool.Invalid, "PruneOptions.Before is required")
	case o.Limit < 0:
		return report, spool.Errorf(spool.Invalid, "PruneOptions.Limit is negative")
	case o.Limit == 0:
		o.Limit = prunePage
	}
	idle, err := e.store.Idle(ctx, spool.IdleQuery{Tenant: o.Tenant, Before: o.Before, Limit: o.Limit})
	if err != nil {
		return report, err
	}
	report.More = len(idle) == o.Limit
	if o.DryRun {
		report.Threads = append(report.Threads, idle...)
		return report, nil
	}
	for _, key := range idle {
		switch err := e.prune(ctx, key, o.Before, reason); {
		case err == nil:
			report.Threads = append(report.Threads, key)
		case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		default:
			return report, err
		}
	}
	return report, nil
}

// prune removes one thread, unless it has moved since it was found.
func (e *Engine) prune(ctx context.Context, key spool.ThreadKey, before time.Time, reason string) error {
	entry := &spool.AuditEntry{Action: spool.AuditPrune, ThreadID: key.ID, Reason: reason}
	err := e.store.Update(ctx, key, 0, func(tx spool.Tx) error {
		t, err := tx.Thread()
		if err != nil {
			return err
		}
		if t.State.Active() || t.Leased(tx.Now()) || !t.UpdatedAt.Before(before) {
			return thread.ErrUnchanged
		}
		if err := tx.DeleteThread(); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, key.Tenant, entry)
	})
	if err == nil {
		actor.Log(ctx, e.config.Log, entry)
		e.deleted(ctx, key)
	}
	return err
}

// retain prunes what is older than the configuration keeps.
func (e *Engine) retain(ctx context.Context) error {
	if e.config.Retention == 0 {
		return nil
	}
	report, err := e.pruneFor(ctx, PruneOptions{
		Before: time.Now().Add(-e.config.Retention), Limit: retentionPage,
	}, "retention")
	if len(report.Threads) > 0 {
		e.config.Log.InfoContext(ctx, "old threads are gone", "threads", len(report.Threads), "retention", e.config.Retention.String())
	}
	return err
}

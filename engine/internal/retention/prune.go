// Package retention removes deleted and old threads, dead jobs, old entries of the audit log, and expired rows.
package retention

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

type Remover struct {
	*change.Threads

	// Retention.Threads is zero if threads are kept for ever.
	Retention option.Retention
	// Artifacts stores artifacts. Nil: the engine stores none.
	Artifacts store.ArtifactStore

	// auditPruned is when old audit entries were last removed, in Unix ns.
	auditPruned atomic.Int64
	// rowsPruned is when rows that had expired were last removed, in Unix ns.
	rowsPruned atomic.Int64
	// artifactsSwept is when the store of artifacts was last swept, in Unix ns.
	artifactsSwept atomic.Int64
}

const (
	// prunePage is the default limit of a prune, in threads.
	prunePage = 1000
	// retentionPage bounds the threads that one sweep prunes, so that a sweep never takes long.
	retentionPage = 100
)

// Prune removes threads that have not changed for a while.
func (r *Remover) Prune(ctx context.Context, o wire.PruneOptions) (wire.PruneReport, error) {
	return r.prune(ctx, o, "")
}

// prune does the work of Prune. The reason is for the audit log.
func (r *Remover) prune(ctx context.Context, o wire.PruneOptions, reason string) (wire.PruneReport, error) {
	report := wire.PruneReport{Threads: []spool.ThreadKey{}}
	switch {
	case o.Before.IsZero():
		return report, spool.Errorf(spool.Invalid, "PruneOptions.Before is required")
	case o.Limit < 0:
		return report, spool.Errorf(spool.Invalid, "PruneOptions.Limit is negative")
	case o.Limit == 0:
		o.Limit = prunePage
	}
	idle, err := r.Store.Threads(ctx, wire.ThreadQuery{
		Tenant: o.Tenant, Work: wire.ThreadsIdle, UpdatedBefore: o.Before, Limit: o.Limit,
	})
	if err != nil {
		return report, err
	}
	report.More = len(idle) == o.Limit
	for _, t := range idle {
		key := t.Key()
		if o.DryRun {
			report.Threads = append(report.Threads, key)
			continue
		}
		switch err := r.pruneOne(ctx, key, o.Before, reason); {
		case err == nil:
			report.Threads = append(report.Threads, key)
		case errors.Is(err, thread.ErrUnchanged), record.Missing(err):
		default:
			return report, err
		}
	}
	return report, nil
}

// pruneOne removes one thread, unless it has changed since it was found.
func (r *Remover) pruneOne(ctx context.Context, key spool.ThreadKey, before time.Time, reason string) error {
	entry := &wire.AuditEntry{Action: wire.AuditPrune, ThreadID: key.ID, Reason: reason}
	rows, removeArtifacts := r.retireArtifacts(key)
	err := r.Store.Update(ctx, key, 0, func(tx store.Tx) error {
		t, err := tx.Thread()
		if err != nil {
			return err
		}
		if t.State.Active() || t.Leased(tx.Now()) || !t.UpdatedAt.Before(before) {
			return thread.ErrUnchanged
		}
		if err := tx.Write(store.Changes{DeleteThread: true, Rows: rows}); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, key.Tenant, entry)
	})
	if err == nil {
		actor.Log(ctx, r.Log, entry)
		r.afterDelete(ctx, key, removeArtifacts)
	}
	return err
}

// Retain prunes threads whose retention has passed.
func (r *Remover) Retain(ctx context.Context) error {
	if r.Retention.Threads == 0 {
		return nil
	}
	report, err := r.prune(ctx, wire.PruneOptions{
		Before: time.Now().Add(-r.Retention.Threads), Limit: retentionPage,
	}, "retention")
	if len(report.Threads) > 0 {
		r.Log.InfoContext(ctx, "removed old threads", "threads", len(report.Threads), "retention",
			r.Retention.Threads.String())
	}
	return err
}

package retention

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/later"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Delete removes a thread that has no active run, and the starts on it that wait for their time.
func (r *Remover) Delete(ctx context.Context, key spool.ThreadKey) (wire.DeleteResult, error) {
	entry := &wire.AuditEntry{Action: wire.AuditDelete, ThreadID: key.ID}
	rows, removeArtifacts := r.retireArtifacts(key)
	gone, err := later.Store{Store: r.Store}.OfThread(ctx, key)
	if err != nil {
		return wire.DeleteResult{}, err
	}
	gone.DeleteThread, gone.Rows = true, append(gone.Rows, rows...)
	err = r.Store.Update(ctx, key, 0, func(tx store.Tx) error {
		open, err := thread.Open(tx, r.Rules)
		if err != nil && open == nil {
			return err
		}
		if open.Thread.State.Active() || open.Thread.Leased(open.Now) {
			return thread.Refuse(wire.ReasonActiveRun, "Thread has an active run — stop it before deleting")
		}
		if err := tx.Write(gone); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, key.Tenant, entry)
	})
	var no *thread.RefusedError
	switch {
	case errors.As(err, &no):
		return wire.DeleteResult{Reason: no.Reason, Error: no.Text}, nil
	case record.Missing(err):
		return wire.DeleteResult{Reason: wire.ReasonNotFound, Error: record.ThreadNotFound}, nil
	case err != nil:
		return wire.DeleteResult{}, err
	}
	actor.Log(ctx, r.Log, entry)
	r.afterDelete(ctx, key, removeArtifacts)
	return wire.DeleteResult{Accepted: true}, nil
}

// afterDelete removes a deleted thread's run streams and artifacts, and tells the clients that follow the thread.
func (r *Remover) afterDelete(ctx context.Context, key spool.ThreadKey, removeArtifacts func(context.Context) error) {
	ctx, cancel := stream.WithTimeout(ctx)
	defer cancel()
	if err := r.Live.Delete(ctx, key); err != nil {
		r.Concerning(key, "").WarnContext(ctx, "delete run streams", "error", err)
	}
	if err := removeArtifacts(ctx); err != nil {
		r.Concerning(key, "").ErrorContext(ctx, "delete artifacts", "error", err)
	}
	r.Live.Wake(key, store.WakeDeleted, nil)
}

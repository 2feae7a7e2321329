package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Runs lists a tenant's runs.
func (s port) Runs(ctx context.Context, q wire.RunQuery) ([]store.RunRow, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []store.RunRow{}
	for key, data := range s.threads {
		if key.Tenant != q.Tenant {
			continue
		}
		for _, r := range data.runs {
			if selected(r, q) && runListed(r, q) {
				found = append(found, pick(r, q))
			}
		}
	}
	slices.SortFunc(found, func(a, b store.RunRow) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

// Runs returns runs of the thread.
func (v *view) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	found := make([]store.RunRow, 0, len(v.data.runs))
	for _, r := range v.data.runs {
		if selected(r, q) {
			found = append(found, pick(r, q))
		}
	}
	switch {
	case q.Waiting:
		slices.SortFunc(found, func(a, b store.RunRow) int { return cmp.Compare(a.QueuePosition, b.QueuePosition) })
	case q.RootID == "":
		slices.Reverse(found)
	}
	return found[:bounded(len(found), q.Limit)], nil
}

// selected applies the fields of the query that a view applies too.
func selected(r store.RunRow, q wire.RunQuery) bool {
	return (q.ID == "" || r.ID == q.ID) && (q.RootID == "" || r.RootID == q.RootID) &&
		(!q.Waiting || r.QueuePosition > 0)
}

// runListed applies the other fields.
func runListed(r store.RunRow, q wire.RunQuery) bool {
	switch {
	case q.StartKey != "" && r.StartKey != q.StartKey,
		q.ThreadID != "" && r.ThreadID != q.ThreadID,
		q.State != "" && r.State != q.State,
		q.Expired && r.Expired.Questions == 0,
		q.StopReason != "" && r.StopReason != q.StopReason,
		q.Agent != "" && r.Agent != q.Agent,
		q.Model != "" && r.Model != q.Model,
		q.Depth != nil && r.Depth != *q.Depth,
		!q.CreatedAfter.IsZero() && !r.CreatedAt.After(q.CreatedAfter),
		!q.CreatedBefore.IsZero() && !r.CreatedAt.Before(q.CreatedBefore):
		return false
	case q.Before.IsZero():
		return true
	}
	return r.CreatedAt.Before(q.Before) || r.CreatedAt.Equal(q.Before) && r.ID < q.BeforeID
}

// pick copies the part of the run that the query asks for.
func pick(r store.RunRow, q wire.RunQuery) store.RunRow {
	if q.Whole {
		return cloneRow(r)
	}
	return store.RunRow{Run: cloneRun(r.Run)}
}

// insertRuns adds runs.
func (tx *transaction) insertRuns(c store.Changes) error {
	for _, r := range c.NewRuns {
		switch {
		case tx.data.thread == nil:
			return errNoThread
		case tx.runIDInUse(r.ID):
			return store.ErrRunIDUsed
		case tx.secondActive(r):
			return store.ErrActiveRun
		case tx.startKeyInUse(r):
			return store.ErrStartKeyUsed
		}
		r.Tenant, r.ThreadID = tx.key.Tenant, tx.key.ID
		if r.CreatedAt.IsZero() {
			r.CreatedAt = tx.now
		}
		tx.data.runs = append(tx.data.runs, cloneRow(r))
		tx.reindex = true
	}
	return nil
}

// updateRuns replaces runs.
func (tx *transaction) updateRuns(c store.Changes) error {
	for _, r := range c.Runs {
		at := tx.data.runAt(r.ID)
		switch {
		case at < 0:
			return errNoRun
		case tx.secondActive(r):
			return store.ErrActiveRun
		case r.StartKey != tx.data.runs[at].StartKey:
			if tx.startKeyInUse(r) {
				return store.ErrStartKeyUsed
			}
			tx.reindex = true
		}
		r.Tenant, r.ThreadID, r.CreatedAt = tx.key.Tenant, tx.key.ID, tx.data.runs[at].CreatedAt
		tx.data.runs = slices.Clone(tx.data.runs)
		tx.data.runs[at] = cloneRow(r)
	}
	return nil
}

// runIDInUse reports whether a run of the tenant has the id. The index answers for other threads only:
// the transaction has the runs of this thread.
func (tx *transaction) runIDInUse(id spool.RunID) bool {
	if tx.data.runAt(id) >= 0 {
		return true
	}
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	owner, found := tx.store.runs[runKey{tx.key.Tenant, id}]
	return found && owner != tx.key
}

func (tx *transaction) startKeyInUse(r store.RunRow) bool {
	if r.StartKey == "" {
		return false
	}
	if slices.ContainsFunc(tx.data.runs, func(other store.RunRow) bool {
		return other.ID != r.ID && other.StartKey == r.StartKey
	}) {
		return true
	}
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	run, found := tx.store.starts[startKey{tx.key.Tenant, r.StartKey}]
	return found && tx.store.runs[run] != tx.key
}

func (tx *transaction) secondActive(r store.RunRow) bool {
	return r.Depth == 0 && r.Active() && slices.ContainsFunc(tx.data.runs, func(other store.RunRow) bool {
		return other.ID != r.ID && other.Depth == 0 && other.Active()
	})
}

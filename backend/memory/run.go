package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
)

// Runs lists a tenant's runs.
func (s port) Runs(ctx context.Context, q spool.RunQuery) ([]spool.RunRow, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []spool.RunRow{}
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
	slices.SortFunc(found, func(a, b spool.RunRow) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

// Runs returns runs of the thread.
func (v *view) Runs(q spool.RunQuery) ([]spool.RunRow, error) {
	found := make([]spool.RunRow, 0, len(v.data.runs))
	for _, r := range v.data.runs {
		if selected(r, q) {
			found = append(found, pick(r, q))
		}
	}
	switch {
	case q.Waiting:
		slices.SortFunc(found, func(a, b spool.RunRow) int { return cmp.Compare(a.QueuePosition, b.QueuePosition) })
	case q.RootID == "":
		slices.Reverse(found)
	}
	return found[:bounded(len(found), q.Limit)], nil
}

// selected applies the fields of the query that a view applies too.
func selected(r spool.RunRow, q spool.RunQuery) bool {
	return (q.ID == "" || r.ID == q.ID) && (q.RootID == "" || r.RootID == q.RootID) &&
		(!q.Waiting || r.QueuePosition > 0)
}

// runListed applies the other fields.
func runListed(r spool.RunRow, q spool.RunQuery) bool {
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
func pick(r spool.RunRow, q spool.RunQuery) spool.RunRow {
	if q.Whole {
		return cloneRow(r)
	}
	return spool.RunRow{Run: cloneRun(r.Run)}
}

// insertRuns adds runs.
func (tx *transaction) insertRuns(c spool.Changes) error {
	for _, r := range c.NewRuns {
		switch {
		case tx.data.thread == nil:
			return errNoThread
		case tx.runTaken(r.ID):
			return spool.ErrRunIDUsed
		case tx.secondActive(r):
			return spool.ErrActiveRun
		case tx.startTaken(r):
			return spool.ErrStartKeyUsed
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
func (tx *transaction) updateRuns(c spool.Changes) error {
	for _, r := range c.Runs {
		at := tx.data.runAt(r.ID)
		switch {
		case at < 0:
			return errNoRun
		case tx.secondActive(r):
			return spool.ErrActiveRun
		case r.StartKey != tx.data.runs[at].StartKey:
			if tx.startTaken(r) {
				return spool.ErrStartKeyUsed
			}
			tx.reindex = true
		}
		r.Tenant, r.ThreadID, r.CreatedAt = tx.key.Tenant, tx.key.ID, tx.data.runs[at].CreatedAt
		tx.data.runs = slices.Clone(tx.data.runs)
		tx.data.runs[at] = cloneRow(r)
	}
	return nil
}

// runTaken reports whether a run of the tenant has the id. The index answers for other threads only:
// the transaction has the runs of this thread.
func (tx *transaction) runTaken(id spool.RunID) bool {
	if tx.data.runAt(id) >= 0 {
		return true
	}
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	owner, taken := tx.store.runs[runKey{tx.key.Tenant, id}]
	return taken && owner != tx.key
}

func (tx *transaction) startTaken(r spool.RunRow) bool {
	if r.StartKey == "" {
		return false
	}
	if slices.ContainsFunc(tx.data.runs, func(other spool.RunRow) bool {
		return other.ID != r.ID && other.StartKey == r.StartKey
	}) {
		return true
	}
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	run, taken := tx.store.starts[startKey{tx.key.Tenant, r.StartKey}]
	return taken && tx.store.runs[run] != tx.key
}

func (tx *transaction) secondActive(r spool.RunRow) bool {
	return r.Depth == 0 && r.Active() && slices.ContainsFunc(tx.data.runs, func(other spool.RunRow) bool {
		return other.ID != r.ID && other.Depth == 0 && other.Active()
	})
}

package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
)

// Runs lists a tenant's runs.
func (s store) Runs(ctx context.Context, tenant spool.Tenant, q spool.RunQuery) ([]spool.Run, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []spool.Run{}
	for key, data := range s.threads {
		if key.Tenant != tenant {
			continue
		}
		for _, r := range data.runs {
			if runListed(r.Run, q) {
				found = append(found, cloneRun(r.Run))
			}
		}
	}
	slices.SortFunc(found, func(a, b spool.Run) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

func runListed(r spool.Run, q spool.RunQuery) bool {
	switch {
	case q.ID != "" && r.ID != q.ID,
		q.ThreadID != "" && r.ThreadID != q.ThreadID,
		q.State != "" && r.State != q.State,
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

// Tally counts the threads, runs and tokens of a tenant.
func (s store) Tally(ctx context.Context, tenant spool.Tenant) (spool.Tally, error) {
	tally := spool.Tally{Runs: make(map[spool.State]int64)}
	if err := canceled(ctx); err != nil {
		return tally, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, data := range s.threads {
		if key.Tenant != tenant {
			continue
		}
		tally.Threads++
		tally.Bytes += data.bytes()
		for _, r := range data.runs {
			tally.Runs[r.State]++
			if r.Depth == 0 {
				tally.Tokens.Add(r.TokenCount)
			}
		}
	}
	return tally, nil
}

// Idle returns threads without an active run, a current lease or a job.
func (s store) Idle(ctx context.Context, q spool.IdleQuery) ([]spool.ThreadKey, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	busy := make(map[spool.ThreadKey]bool, len(s.jobs))
	for _, j := range s.jobs {
		busy[j.Thread()] = true
	}
	now := s.now()
	found := []spool.Thread{}
	for key, data := range s.threads {
		t := *data.thread
		if (q.Tenant == "" || key.Tenant == q.Tenant) && t.UpdatedAt.Before(q.Before) &&
			!t.State.Active() && !t.Leased(now) && !busy[key] {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b spool.Thread) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
	keys := make([]spool.ThreadKey, bounded(len(found), q.Limit))
	for i := range keys {
		keys[i] = found[i].Key()
	}
	return keys, nil
}

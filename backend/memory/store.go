package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

type store struct{ *memory }

var _ spool.Store = store{}

// Update runs one update at a time, across all threads.
func (s store) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return canceled(ctx)
	}
	defer func() { <-s.writer }()

	tx := &transaction{view: s.view(key), store: s.memory}
	defer tx.end()
	if fence > 0 && (tx.data.thread == nil || tx.data.thread.Fence != fence) {
		return spool.ErrFenced
	}
	tx.data = tx.data.fork()
	if err := fn(tx); err != nil {
		return err
	}
	if err := canceled(ctx); err != nil {
		return err
	}
	s.commit(tx)
	return nil
}

// View runs fn over the last committed state of the thread.
func (s store) View(ctx context.Context, key spool.ThreadKey, fn func(spool.View) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	v := s.view(key)
	defer v.end()
	return fn(v)
}

// Threads lists a tenant's threads.
func (s store) Threads(ctx context.Context, tenant spool.Tenant, q spool.ThreadQuery) ([]spool.Thread, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []spool.Thread{}
	for key, data := range s.threads {
		if key.Tenant == tenant && listed(*data.thread, q) {
			found = append(found, cloneThread(*data.thread))
		}
	}
	slices.SortFunc(found, func(a, b spool.Thread) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

func listed(t spool.Thread, q spool.ThreadQuery) bool {
	switch {
	case q.State != "" && t.State != q.State,
		!strings.Contains(lowerASCII(t.Title), lowerASCII(q.Title)),
		q.Owner != "" && t.Owner != q.Owner,
		!labelled(t, q.Labels),
		!q.UpdatedAfter.IsZero() && !t.UpdatedAt.After(q.UpdatedAfter),
		!q.UpdatedBefore.IsZero() && !t.UpdatedAt.Before(q.UpdatedBefore):
		return false
	case q.Before.IsZero():
		return true
	}
	return t.UpdatedAt.Before(q.Before) || t.UpdatedAt.Equal(q.Before) && t.ID < q.BeforeID
}

// cloneThread returns a row that shares no map with the original.
func cloneThread(t spool.Thread) spool.Thread {
	t.Labels = maps.Clone(t.Labels)
	if len(t.Labels) == 0 {
		t.Labels = nil
	}
	return t
}

// labelled reports whether the thread has each of the wanted labels.
func labelled(t spool.Thread, want map[string]string) bool {
	for key, value := range want {
		if t.Labels[key] != value {
			return false
		}
	}
	return true
}

// lowerASCII returns the text with ASCII letters in lower case and all other characters unchanged.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// FindStart returns the run that was started with an idempotency key.
func (s store) FindStart(ctx context.Context, tenant spool.Tenant, key string) (spool.RunRow, error) {
	if err := canceled(ctx); err != nil {
		return spool.RunRow{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	run, ok := s.starts[startKey{tenant, key}]
	if !ok || key == "" {
		return spool.RunRow{}, errNoRun
	}
	return s.threads[s.runs[run]].findRun(run.id)
}

// Stranded returns the stranded threads in the order of their keys.
func (s store) Stranded(ctx context.Context, limit int) ([]spool.ThreadKey, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	tickets := make(map[runKey]bool, len(s.jobs))
	for _, j := range s.jobs {
		tickets[runKey{j.Tenant, j.RunID}] = true
	}
	now := s.now()
	found := []spool.ThreadKey{}
	for key, data := range s.threads {
		t := data.thread
		if t.State.Active() && !t.Leased(now) && !tickets[runKey{key.Tenant, t.RunID}] {
			found = append(found, key)
		}
	}
	slices.SortFunc(found, func(a, b spool.ThreadKey) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
	return found[:bounded(len(found), limit)], nil
}

// Close does nothing, so that another engine can use the backend.
func (store) Close() error { return nil }

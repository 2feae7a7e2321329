package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Threads lists threads.
func (s port) Threads(ctx context.Context, q wire.ThreadQuery) ([]wire.Thread, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if q.Work != "" {
		return s.withWork(q)
	}
	found := []wire.Thread{}
	for key, data := range s.threads {
		if key.Tenant == q.Tenant && listed(*data.thread, q) {
			found = append(found, cloneThread(*data.thread))
		}
	}
	slices.SortFunc(found, func(a, b wire.Thread) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

func listed(t wire.Thread, q wire.ThreadQuery) bool {
	switch {
	case q.State != "" && t.State != q.State,
		q.Expired && t.Expired.Questions == 0,
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

// withWork lists threads by their work, the one that was updated longest ago first. The caller must hold mu.
func (m *memory) withWork(q wire.ThreadQuery) ([]wire.Thread, error) {
	var has func(t wire.Thread) bool
	now := m.now()
	switch q.Work {
	case wire.ThreadsIdle:
		busy := make(map[spool.ThreadKey]bool, len(m.jobs))
		for _, j := range m.jobs {
			busy[j.Thread()] = busy[j.Thread()] || !j.Event()
		}
		has = func(t wire.Thread) bool { return !t.State.Active() && !busy[t.Key()] }
	case wire.ThreadsStranded:
		tickets := make(map[runKey]bool, len(m.jobs))
		for _, j := range m.jobs {
			if !j.Event() {
				tickets[runKey{j.Tenant, j.RunID}] = true
			}
		}
		has = func(t wire.Thread) bool { return t.State.Active() && !tickets[runKey{t.Tenant, t.RunID}] }
	default:
		return nil, spool.Errorf(spool.Invalid, "Unknown work of threads: %s", q.Work)
	}
	found := []wire.Thread{}
	for _, data := range m.threads {
		t := *data.thread
		if (q.Tenant == "" || t.Tenant == q.Tenant) && !t.Leased(now) && has(t) &&
			(q.UpdatedBefore.IsZero() || t.UpdatedAt.Before(q.UpdatedBefore)) {
			found = append(found, cloneThread(t))
		}
	}
	slices.SortFunc(found, func(a, b wire.Thread) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

// cloneThread returns a row that shares no map with the original.
func cloneThread(t wire.Thread) wire.Thread {
	t.Labels = maps.Clone(t.Labels)
	if len(t.Labels) == 0 {
		t.Labels = nil
	}
	return t
}

// labelled reports whether the thread has each of the wanted labels.
func labelled(t wire.Thread, want map[string]string) bool {
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

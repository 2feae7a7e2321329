package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// putRows inserts, replaces or removes rows at the commit. It can compare the versions now, because the store
// has only one writer at a time.
func (tx *transaction) putRows(c store.Changes) error {
	for _, r := range c.Rows {
		key := rowKey{tx.key.Tenant, r.Kind, r.Key}
		before := tx.row(key)
		if r.Version != store.AnyVersion && r.Version != before.Version {
			return store.ErrRowChanged
		}
		r.Tenant, r.Version, r.UpdatedAt = tx.key.Tenant, before.Version+1, tx.now
		if before.Version == 0 {
			r.Version = form.NewVersion()
		}
		r = cloneValue(r)
		if r.Value == nil {
			r = store.Row{}
		}
		if tx.rows == nil {
			tx.rows = make(map[rowKey]store.Row)
		}
		tx.rows[key] = r
		tx.outside = append(tx.outside, func(m *memory) {
			if r.Value == nil {
				delete(m.rows, key)
			} else {
				m.rows[key] = r
			}
		})
	}
	return nil
}

// row returns the row as the transaction sees it, or one without a version.
func (tx *transaction) row(key rowKey) store.Row {
	r, written := tx.rows[key]
	if !written {
		tx.store.mu.RLock()
		r = tx.store.rows[key]
		tx.store.mu.RUnlock()
	}
	if expired(r, tx.now) {
		return store.Row{}
	}
	return r
}

func expired(r store.Row, now time.Time) bool {
	return !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(now)
}

// Rows lists rows by their keys.
func (s port) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.now()
	found := []store.Row{}
	for _, r := range s.rows {
		if r.Tenant == q.Tenant && r.Kind == q.Kind && (q.Key == "" || r.Key == q.Key) &&
			(q.After == "" || r.Key > q.After) && !expired(r, now) {
			found = append(found, cloneValue(r))
		}
	}
	slices.SortFunc(found, func(a, b store.Row) int { return cmp.Compare(a.Key, b.Key) })
	return found[:bounded(len(found), q.Limit)], nil
}

func cloneValue(r store.Row) store.Row {
	r.Value = bytes.Clone(r.Value)
	return r
}

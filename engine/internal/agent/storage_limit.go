package agent

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// CheckRoom returns a [spool.StorageFull] error if the tenant has reached its storage limit.
// Concurrent callers may exceed the limit together.
func (r *Runner) CheckRoom(ctx context.Context, tenant spool.Tenant) error {
	full, err := r.full(ctx, tenant)
	switch {
	case err != nil:
		return err
	case full:
		return spool.Errorf(spool.StorageFull, "the tenant stores as many bytes as it may (%d): delete threads to make room", r.Limits.TenantBytes)
	}
	return nil
}

// full reports whether the tenant has reached its storage limit.
func (r *Runner) full(ctx context.Context, tenant spool.Tenant) (bool, error) {
	if r.Limits.TenantBytes == 0 {
		return false, nil
	}
	stats, err := r.Store.Stats(ctx, wire.StatsQuery{Tenant: tenant, Tally: true})
	return err == nil && stats.Tally.Bytes >= r.Limits.TenantBytes, err
}

// finishIfStorageFull ends a run before its next step if its tenant has reached its storage limit.
func (l *loop) finishIfStorageFull(ctx context.Context) (bool, error) {
	full, err := l.s.runner.full(ctx, l.s.Key.Tenant)
	switch {
	case err != nil:
		return false, storeError{err}
	case full:
		return true, l.exhausted(ctx, wire.StopStorageLimit)
	}
	return false, nil
}

package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// checkRoom returns a [spool.StorageFull] error where the tenant stores as many bytes as it may.
// Callers that come at the same time may go beyond the limit together.
func (e *Engine) checkRoom(ctx context.Context, tenant spool.Tenant) error {
	full, err := e.full(ctx, tenant)
	switch {
	case err != nil:
		return err
	case full:
		return spool.Errorf(spool.StorageFull, "the tenant stores as many bytes as it may (%d): delete threads to make room", e.config.MaxTenantBytes)
	}
	return nil
}

// full reports whether the tenant stores as many bytes as it may.
func (e *Engine) full(ctx context.Context, tenant spool.Tenant) (bool, error) {
	if e.config.MaxTenantBytes == 0 {
		return false, nil
	}
	tally, err := e.store.Tally(ctx, tenant)
	return err == nil && tally.Bytes >= e.config.MaxTenantBytes, err
}

// outOfRoom ends a run before its next step where its tenant stores as many bytes as it may.
func (l *loop) outOfRoom(ctx context.Context) (bool, error) {
	full, err := l.s.e.full(ctx, l.s.key.Tenant)
	switch {
	case err != nil:
		return false, storeError{err}
	case full:
		return true, l.useUp(ctx, spool.StopStorageLimit)
	}
	return false, nil
}

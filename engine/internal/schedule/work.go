package schedule

import (
	"context"
)

// Enabled reports whether this process can see to ticks: without schedules in its configuration, and without a way to
// look up the rights of makers, it could start none.
func (s *Schedules) Enabled() bool {
	return len(s.Options.Schedules) > 0 || s.Options.MaxScopes != nil || s.Options.MayStart != nil
}

// SyncOnce writes the schedules of the configuration, until that has succeeded once.
func (s *Schedules) SyncOnce(ctx context.Context) error {
	if !s.Enabled() || s.synced.Load() {
		return nil
	}
	err := s.Sync(ctx)
	if err == nil {
		s.synced.Store(true)
	}
	return err
}

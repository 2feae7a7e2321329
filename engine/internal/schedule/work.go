package schedule

import (
	"context"
	"time"
)

// syncWait is the wait before the schedules of the configuration are written again after an error.
const syncWait = 5 * time.Second

// Enabled reports whether this process can see to ticks: without schedules in its configuration, and without a way to
// look up the rights of makers, it could start none.
func (s *Schedules) Enabled() bool {
	return len(s.Options.Schedules) > 0 || s.Options.MaxScopes != nil || s.Options.MayStart != nil
}

// Work writes the schedules of the configuration, and then calls work, which claims ticks until ctx ends.
func (s *Schedules) Work(ctx context.Context, work func(ctx context.Context) error) error {
	for {
		err := s.Sync(ctx)
		if err == nil {
			return work(ctx)
		}
		if ctx.Err() == nil {
			s.Log.WarnContext(ctx, "write the schedules of the configuration", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(syncWait):
		}
	}
}

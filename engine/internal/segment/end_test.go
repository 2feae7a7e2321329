package segment

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// What bounds a run's time first ends it.
func TestTimeLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget, spent, limit, used, left time.Duration
		by                               error
	}{
		"nothing": {used: time.Hour},
		"budget": {
			budget: time.Minute, spent: 20 * time.Second, left: 40 * time.Second, by: active.ErrOutOfTime,
		},
		"limit":               {limit: time.Minute, used: 20 * time.Second, left: 40 * time.Second, by: active.ErrTimeLimit},
		"budget before limit": {budget: time.Minute, limit: time.Hour, left: time.Minute, by: active.ErrOutOfTime},
		"both at once":        {budget: time.Minute, limit: time.Minute, left: time.Minute, by: active.ErrOutOfTime},
		"limit before budget": {budget: time.Hour, limit: time.Minute, left: time.Minute, by: active.ErrTimeLimit},
		"over":                {budget: time.Minute, spent: 2 * time.Minute, left: -time.Minute, by: active.ErrOutOfTime},
	} {
		run := store.RunRow{RunState: store.RunState{WallTime: c.used}}
		if c.budget > 0 {
			run.Allowance = &wire.Allowance{Budget: spool.Budget{WallTime: c.budget}, Spent: wire.Spent{WallTime: c.spent}}
		}
		left, by := timeLeft(run, c.limit)
		if left != c.left || by != c.by { //nolint:errorlint // one wraps the other
			t.Errorf("%s: %s by %v", name, left, by)
		}
	}
}

// A run that has no time left ends at once, with the reason of what bounds it.
func TestLimitTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget, limit time.Duration
		cause         error
		reason        wire.StopReason
	}{
		"budget":      {budget: time.Minute, limit: -1, cause: active.ErrOutOfTime, reason: wire.StopTimeBudget},
		"limit":       {limit: time.Minute, cause: active.ErrTimeLimit, reason: wire.StopTimeLimit},
		"limit first": {budget: time.Hour, limit: time.Minute, cause: active.ErrTimeLimit, reason: wire.StopTimeLimit},
		"unbounded":   {limit: -1, reason: wire.StopTimeBudget},
	} {
		run := store.RunRow{RunState: store.RunState{WallTime: time.Minute}}
		if c.budget > 0 {
			run.Allowance = &wire.Allowance{Budget: spool.Budget{WallTime: c.budget}, Spent: wire.Spent{WallTime: time.Minute}}
		}
		s := newScene(t, spool.Agent{}, run)
		s.segment.runner.Limits.WallTime = c.limit
		var cause error
		s.segment.limitTime(func(err error) { cause = err })()
		if cause != c.cause || s.segment.TimeReason() != c.reason { //nolint:errorlint // one wraps the other
			t.Errorf("%s: %v, %s", name, cause, s.segment.TimeReason())
		}
	}
}

// A run whose worker shuts down goes on at once, and has no attempt less. The calls that have not run are void.
func TestHandBack(t *testing.T) {
	t.Parallel()
	s := desk(t, store.RunRow{Run: wire.Run{Attempts: 1}, RunState: store.RunState{
		Draft: &store.Draft{Message: spool.Message{Role: spool.RoleAssistant, Content: stage.Asked("look")}},
	}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.segment.loop.Advance(ended); !errors.Is(err, context.Canceled) ||
		s.Rows.Rows.Effects[0].State != wire.EffectPending {
		t.Fatalf("before a call: %v, %v", err, s.Rows.Rows.Effects)
	}
	s.Check(s.segment.handBack(t.Context(), context.Canceled))
	run, jobs := s.Saved(), s.Rows.Rows.Jobs
	if run.State != wire.Queued || run.Attempts != 1 || len(jobs) != 1 || !jobs[0].DueAt.Equal(stage.Noon) ||
		s.Rows.Rows.Effects[0].State != wire.EffectVoid || s.Screen.Woken != 1 {
		t.Errorf("%s, %v, %v; workers were woken %d times", run.State, jobs, s.Rows.Rows.Effects, s.Screen.Woken)
	}
	s = desk(t, store.RunRow{RunState: store.RunState{StopAt: stage.Noon}})
	s.Check(s.segment.handBack(t.Context(), context.Canceled))
	if state := s.Saved().State; state != wire.Cancelled {
		t.Errorf("stopped: %s", state)
	}
}

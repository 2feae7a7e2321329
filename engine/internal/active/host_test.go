package active_test

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active/activetest"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/store"
)

// The limit of all runs is configured, or else no shorter than any budget that a run may have.
func TestWallTimeLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ set, usual, most, agent, want time.Duration }{
		"default":        {want: time.Hour},
		"set":            {set: time.Minute, agent: 2 * time.Hour, want: time.Minute},
		"lifted":         {set: -1, most: 2 * time.Hour},
		"of all budgets": {usual: 2 * time.Hour, want: 2 * time.Hour},
		"of the largest": {usual: 2 * time.Hour, most: 3 * time.Hour, want: 3 * time.Hour},
		"of the agent":   {most: 2 * time.Hour, agent: 3 * time.Hour, want: 3 * time.Hour},
		"short budgets":  {usual: time.Minute, most: time.Minute, agent: time.Minute, want: time.Hour},
	} {
		s := activetest.New(t, spool.Agent{Budget: spool.Budget{WallTime: c.agent}}, store.RunRow{})
		r := s.Host()
		r.Limits.WallTime, r.Budget.Default.WallTime, r.Budget.Max.WallTime = c.set, c.usual, c.most
		if got := r.WallTimeLimit(s.Agent()); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if got := r.WallTimeLimit(nil); c.agent == 0 && got != c.want {
			t.Errorf("%s, without the agent: %s", name, got)
		}
	}
}

// The limits of nested runs are those of the dispatched run's agent.
func TestSpawnLimits(t *testing.T) {
	t.Parallel()
	s := activetest.New(t, spool.Agent{Spawn: &spool.Spawn{Open: true, MaxDepth: 5}}, store.RunRow{})
	if got := s.SpawnLimits(); got.MaxDepth != 5 || got.MaxConcurrent != registry.DefaultMaxConcurrent {
		t.Errorf("%+v", got)
	}
	s.SetAgent(nil)
	if got := s.SpawnLimits(); got.MaxDepth != registry.DefaultMaxDepth || got.ResultCap != registry.DefaultResultCap {
		t.Errorf("without the agent: %+v", got)
	}
}

package engine

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// check returns the configuration with its defaults filled in, and its agents.
func (c Config) check() (Config, *registry.Registry, error) {
	for _, f := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"AuditRetention", &c.AuditRetention, auditRetention},
		{"FlushEvery", &c.FlushEvery, 50 * time.Millisecond},
		{"Keepalive", &c.Keepalive, 15 * time.Second},
		{"Lease", &c.Lease, 30 * time.Second},
		{"ParkTTL", &c.ParkTTL, 15 * time.Minute},
		{"Poll", &c.Poll, time.Second},
		{"Retention", &c.Retention, 0},
		{"RetryAfterMax", &c.RetryAfterMax, 15 * time.Minute},
		{"RetryBackoff", &c.RetryBackoff, 5 * time.Second},
		{"RetryBackoffMax", &c.RetryBackoffMax, 2 * time.Minute},
		{"RetryHint", &c.RetryHint, time.Second},
		{"StopPoll", &c.StopPoll, 500 * time.Millisecond},
		{"StreamGrace", &c.StreamGrace, 10 * time.Minute},
		{"SweepEvery", &c.SweepEvery, 5 * time.Second},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < 0 && f.name != "FlushEvery" && f.name != "AuditRetention" {
			return c, nil, spool.Errorf(spool.Invalid, "Config.%s is negative", f.name)
		}
	}
	for _, f := range []struct {
		name  string
		value *int
		def   int
	}{
		{"ContextCeiling", &c.ContextCeiling, history.DefaultCeiling},
		{"ContextOutputReserve", &c.ContextOutputReserve, history.DefaultOutputReserve},
		{"FlushItems", &c.FlushItems, 32},
		{"MaxAttempts", &c.MaxAttempts, 3},
		{"MaxDeaths", &c.MaxDeaths, 10},
		{"MaxPromptBytes", &c.MaxPromptBytes, 256 << 10},
		{"MaxWaiting", &c.MaxWaiting, 16},
		{"SnapshotMemory", &c.SnapshotMemory, 128 << 20},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < 0 {
			return c, nil, spool.Errorf(spool.Invalid, "Config.%s is negative", f.name)
		}
	}
	if c.MaxQueueDepth < 0 || c.MaxTenantDepth < 0 || c.MaxTenantBytes < 0 {
		return c, nil, spool.Errorf(spool.Invalid, "Config.MaxQueueDepth, MaxTenantDepth and MaxTenantBytes must not be negative")
	}
	c, err := c.checkBounds()
	if err != nil {
		return c, nil, err
	}
	c, err = c.checkContext()
	if err != nil {
		return c, nil, err
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	for _, b := range []struct {
		where  string
		bounds spool.Budget
	}{{"Config.", c.Budget}, {"Config.Max", c.MaxBudget}} {
		if err := budget.Check(b.where, b.bounds, &c.OnBudget, c.Pricer != nil); err != nil {
			return c, nil, err
		}
	}
	c.OnBudget = cmp.Or(c.OnBudget, spool.BudgetEnd)
	c.WhenBusy = cmp.Or(c.WhenBusy, spool.BusyReject)
	if !c.WhenBusy.Known() {
		return c, nil, spool.Errorf(spool.Invalid, "Config.WhenBusy has no policy of the name %q", c.WhenBusy)
	}
	for name := range c.ModelAccess {
		if c.Models[name] == nil {
			return c, nil, spool.Errorf(spool.Invalid, "Config.ModelAccess names %q, which Config.Models lacks", name)
		}
	}
	agents, err := registry.New(registry.Config{
		Agents: c.Agents, Models: c.Models, ModelAccess: c.ModelAccess, MaxPromptBytes: c.MaxPromptBytes,
		OnBudget: c.OnBudget, WhenBusy: c.WhenBusy, Priced: c.Pricer != nil,
	})
	return c, agents, err
}

// checkContext returns the configuration with how histories are kept within windows.
func (c Config) checkContext() (Config, error) {
	if c.CompactionTrigger == 0 {
		c.CompactionTrigger = history.DefaultTrigger
	}
	if c.ContextTailShare == 0 {
		c.ContextTailShare = history.DefaultTailShare
	}
	switch {
	case c.CompactionModel != "" && c.Models[c.CompactionModel] == nil:
		return c, spool.Errorf(spool.Invalid, "Config.CompactionModel is %q, which Config.Models lacks", c.CompactionModel)
	case c.CompactionTrigger > 1 || c.CompactionTrigger != c.CompactionTrigger:
		return c, spool.Errorf(spool.Invalid, "Config.CompactionTrigger is more than 1")
	case !(c.ContextTailShare > 0 && c.ContextTailShare <= history.MaxTailShare):
		return c, spool.Errorf(spool.Invalid, "Config.ContextTailShare is not between 0 and %g", history.MaxTailShare)
	}
	if c.CompactionTrigger > 0 && c.ContextTailShare >= c.CompactionTrigger {
		return c, spool.Errorf(spool.Invalid, "Config.ContextTailShare is not less than CompactionTrigger")
	}
	for name, window := range c.Windows {
		if window <= 0 {
			return c, spool.Errorf(spool.Invalid, "Config.Windows[%q] is not positive", name)
		}
	}
	return c, nil
}

// rules returns what the transitions of threads decide by.
func (c Config) rules(agents *registry.Registry) thread.Rules {
	return thread.Rules{
		Lease: c.Lease, Settles: c.OnSettle != nil, MaxDeaths: c.MaxDeaths, MaxWaiting: c.MaxWaiting, MaxBudget: c.MaxBudget,
		ParkTTL: c.ParkTTL, Retry: thread.Retry{Backoff: c.RetryBackoff, Max: c.RetryBackoffMax, AfterMax: c.RetryAfterMax},
		Random: random.Source{From: c.Random}, Log: c.Log, Parameters: agents.Parameters,
	}
}

package active

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/telemetry"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Host is what all work on runs uses of its process.
type Host struct {
	*change.Threads

	Registry  *registry.Registry
	Telemetry *telemetry.Recorder
	Publisher *publish.Publisher
	// Artifacts stores files. Nil: the engine stores none.
	Artifacts store.ArtifactStore
	// StoreResults is true if Artifacts also stores large results.
	StoreResults bool

	Budget option.Budget
	Limits option.Limits
}

// CheckRoom returns a [spool.StorageFull] error if the tenant has reached its storage limit.
// Concurrent callers may exceed the limit together.
func (h *Host) CheckRoom(ctx context.Context, tenant spool.Tenant) error {
	full, err := h.StorageFull(ctx, tenant)
	switch {
	case err != nil:
		return err
	case full:
		return spool.Errorf(spool.StorageFull, "the tenant stores as many bytes as it may (%d): delete threads to make room",
			h.Limits.TenantBytes)
	}
	return nil
}

// StorageFull reports whether the tenant has reached its storage limit.
func (h *Host) StorageFull(ctx context.Context, tenant spool.Tenant) (bool, error) {
	if h.Limits.TenantBytes == 0 {
		return false, nil
	}
	stats, err := h.Store.Stats(ctx, wire.StatsQuery{Tenant: tenant, Tally: true})
	return err == nil && stats.Tally.Bytes >= h.Limits.TenantBytes, err
}

// defaultWallTime is the wall time limit of a run if the configuration has none.
const defaultWallTime = time.Hour

// WallTimeLimit returns the wall time limit of the agent's runs. Agent is nil if this process lacks the
// agent. Zero: no limit.
func (h *Host) WallTimeLimit(agent *registry.Agent) time.Duration {
	if h.Limits.WallTime != 0 {
		return max(h.Limits.WallTime, 0)
	}
	limit := max(defaultWallTime, h.Budget.Default.WallTime, h.Budget.Max.WallTime)
	if agent != nil {
		limit = max(limit, agent.Budget.WallTime)
	}
	return limit
}

package intake

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/wire"
)

// Check returns the error of a start that this process would refuse on any thread, such as one without a prompt. It reads
// and writes no thread.
func (h *Handler) Check(ctx context.Context, key spool.ThreadKey, r wire.StartRequest) error {
	if err := h.checkIDs(&key, &r); err != nil {
		return err
	}
	agent, _, _, err := h.checkStart(key, &r)
	if err != nil {
		return err
	}
	return h.Registry.CheckPrices(
		ctx, agent, r.Budget, &registry.Caller{Model: r.Model, Tenant: key.Tenant, Scopes: r.Scopes})
}

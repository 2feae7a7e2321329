package endpoint

import (
	"context"
	"maps"
	"slices"

	"github.com/spoolhq/spool"
)

// Tenants returns the tenants that may have events: those with endpoints, and those with hosts for starts.
func (b *Book) Tenants(ctx context.Context) ([]spool.Tenant, error) {
	listed, err := b.listed.get(ctx, b.readListed)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(listed)
	if all == nil {
		all = make(map[spool.Tenant]bool)
	}
	for tenant := range b.ofTenant {
		all[tenant] = true
	}
	for host := range b.hosts {
		all[host.tenant] = true
	}
	return slices.Sorted(maps.Keys(all)), nil
}

package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// diedKind is the kind of the rows of the installation that name tenants with dead events. The key is the tenant. A
// tenant may have no endpoint any more, and the store cannot list tenants.
const diedKind = "webhook_died"

// died notes that a tenant has dead events. A process writes it once an hour for each tenant.
func (d *Deliverer) died(ctx context.Context, tenant spool.Tenant) error {
	d.mu.Lock()
	last, ok := d.noted[tenant]
	d.mu.Unlock()
	if ok && time.Since(last) < pruneEvery {
		return nil
	}
	err := d.Store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: []store.Row{{
			Kind: diedKind, Key: string(tenant), Value: []byte("{}"), Version: store.AnyVersion,
			ExpiresAt: tx.Now().Add(2 * (d.Keep + bodyExtra)),
		}}})
	})
	if err == nil {
		d.mu.Lock()
		d.noted[tenant] = time.Now()
		d.mu.Unlock()
	}
	return err
}

// haveDead returns the tenants that may have dead events.
func (d *Deliverer) haveDead(ctx context.Context) ([]spool.Tenant, error) {
	tenants, err := d.Endpoints.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := d.Store.Rows(ctx, store.RowQuery{Kind: diedKind})
	if err != nil {
		return nil, err
	}
	tenants = slices.Clone(tenants)
	for _, r := range rows {
		tenants = append(tenants, spool.Tenant(r.Key))
	}
	slices.Sort(tenants)
	return slices.Compact(tenants), nil
}

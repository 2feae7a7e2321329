package engine

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// depthAge is how old a count of ready jobs may be.
	depthAge = 250 * time.Millisecond
	// depthRetry is when a start that was refused because of a deep queue is worth another try.
	depthRetry = time.Second
	// depthTenants is how many counts are kept before the old ones are dropped.
	depthTenants = 1024
)

// depths are the counts of ready jobs by tenant, as far as this process knows. The empty tenant
// has the count of all.
type depths struct {
	mu sync.Mutex
	of map[spool.Tenant]depth
}

// depth is how many jobs were ready when the queue was asked, and those started since.
type depth struct {
	counted time.Time
	ready   int
}

// places are what a start has taken in the counts: release gives them back.
type places struct {
	all, tenant time.Time
}

// reserve takes a place in the queue for a start of the tenant, and reports whether there was
// one. A start that needs none after all gives it back: see release.
func (e *Engine) reserve(ctx context.Context, tenant spool.Tenant) (p places, ok bool, err error) {
	if e.queue == nil {
		return places{}, true, nil
	}
	d := &e.depths
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget()
	for _, bound := range []struct {
		tenant spool.Tenant
		most   int
		place  *time.Time
	}{{"", e.config.MaxQueueDepth, &p.all}, {tenant, e.config.MaxTenantDepth, &p.tenant}} {
		if bound.most == 0 {
			continue
		}
		if *bound.place, ok, err = d.take(ctx, e.queue, bound.tenant, bound.most); !ok || err != nil {
			d.give(tenant, p)
			return places{}, false, err
		}
	}
	return p, true, nil
}

// release gives back places that were reserved. A later count does not have them.
func (e *Engine) release(tenant spool.Tenant, p places) {
	e.depths.mu.Lock()
	defer e.depths.mu.Unlock()
	e.depths.give(tenant, p)
}

// take counts one more job of a tenant where there is room. It returns a zero time where there
// was none.
func (d *depths) take(ctx context.Context, queue spool.Queue, tenant spool.Tenant, most int) (counted time.Time, ok bool, err error) {
	now, known := d.of[tenant]
	if !known || time.Since(now.counted) >= depthAge {
		stats, err := queue.Stats(ctx, tenant)
		if err != nil {
			return time.Time{}, false, err
		}
		now = depth{counted: time.Now(), ready: stats.Ready}
	}
	if ok = now.ready < most; ok {
		now.ready++
		counted = now.counted
	}
	if d.of == nil {
		d.of = make(map[spool.Tenant]depth)
	}
	d.of[tenant] = now
	return counted, ok, nil
}

func (d *depths) give(tenant spool.Tenant, p places) {
	for _, place := range []struct {
		tenant  spool.Tenant
		counted time.Time
	}{{"", p.all}, {tenant, p.tenant}} {
		if now, known := d.of[place.tenant]; known && !place.counted.IsZero() && place.counted.Equal(now.counted) {
			now.ready--
			d.of[place.tenant] = now
		}
	}
}

// forget drops the counts that are too old to be used, once there are many.
func (d *depths) forget() {
	if len(d.of) < depthTenants {
		return
	}
	for tenant, of := range d.of {
		if time.Since(of.counted) >= depthAge {
			delete(d.of, tenant)
		}
	}
}

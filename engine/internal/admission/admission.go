// Package admission bounds how many jobs may be ready when a start is accepted. It touches the queue
// only to count them.
package admission

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// maxAge is how old a count of ready jobs may be.
	maxAge = 250 * time.Millisecond
	// RetryAfter is when a start that was refused because of a deep queue is worth another try.
	RetryAfter = time.Second
	// maxTenants is how many counts are kept before the old ones are dropped.
	maxTenants = 1024
)

// Counts are the counts of ready jobs by tenant, as far as this process knows. The empty tenant
// has the count of all.
type Counts struct {
	Queue spool.Queue
	// Most bounds the ready jobs of all tenants, MostOfTenant those of one. Zero: no bound.
	Most, MostOfTenant int

	mu sync.Mutex
	of map[spool.Tenant]count
}

// count is how many jobs were ready when the queue was asked, and those started since.
type count struct {
	at    time.Time
	ready int
}

// Admitted is what a start has taken in the counts: [Counts.Release] gives it back.
type Admitted struct{ all, tenant time.Time }

// Admit takes a place in the queue for a start of the tenant, and reports whether there was
// one. A start that needs none after all gives it back.
func (c *Counts) Admit(ctx context.Context, tenant spool.Tenant) (p Admitted, ok bool, err error) {
	if c.Queue == nil {
		return Admitted{}, true, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	for _, bound := range []struct {
		tenant  spool.Tenant
		most    int
		counted *time.Time
	}{{"", c.Most, &p.all}, {tenant, c.MostOfTenant, &p.tenant}} {
		if bound.most == 0 {
			continue
		}
		if *bound.counted, ok, err = c.add(ctx, bound.tenant, bound.most); !ok || err != nil {
			c.remove(tenant, p)
			return Admitted{}, false, err
		}
	}
	return p, true, nil
}

// Release gives back a place. A later count does not have it.
func (c *Counts) Release(tenant spool.Tenant, p Admitted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(tenant, p)
}

// take counts one more job of a tenant where there is room. It returns a zero time where there
// was none.
func (c *Counts) add(ctx context.Context, tenant spool.Tenant, most int) (counted time.Time, ok bool, err error) {
	now, known := c.of[tenant]
	if !known || time.Since(now.at) >= maxAge {
		stats, err := c.Queue.Stats(ctx, tenant)
		if err != nil {
			return time.Time{}, false, err
		}
		now = count{at: time.Now(), ready: stats.Ready}
	}
	if ok = now.ready < most; ok {
		now.ready++
		counted = now.at
	}
	if c.of == nil {
		c.of = make(map[spool.Tenant]count)
	}
	c.of[tenant] = now
	return counted, ok, nil
}

func (c *Counts) remove(tenant spool.Tenant, p Admitted) {
	for _, part := range []struct {
		tenant  spool.Tenant
		counted time.Time
	}{{"", p.all}, {tenant, p.tenant}} {
		if now, known := c.of[part.tenant]; known && !part.counted.IsZero() && part.counted.Equal(now.at) {
			now.ready--
			c.of[part.tenant] = now
		}
	}
}

// forget drops the counts that are too old to be used, once there are many.
func (c *Counts) forget() {
	if len(c.of) < maxTenants {
		return
	}
	for tenant, of := range c.of {
		if time.Since(of.at) >= maxAge {
			delete(c.of, tenant)
		}
	}
}

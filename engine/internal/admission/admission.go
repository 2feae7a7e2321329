// Package admission refuses starts while too many jobs are ready. From the store it reads only the
// counts of ready jobs.
package admission

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// maxAge bounds the age of a count of ready jobs.
	maxAge = 250 * time.Millisecond
	// RetryAfter is how long a client waits before it repeats a start that was refused because the
	// queue is full.
	RetryAfter = time.Second
	// maxTenants is how many counts are kept before old counts are dropped.
	maxTenants = 1024
)

// Counts keeps this process's counts of ready jobs by tenant. The empty tenant counts all tenants.
type Counts struct {
	Store spool.Store
	// Most bounds the ready jobs of all tenants, and MostOfTenant the ready jobs of one. Zero: no
	// bound.
	Most, MostOfTenant int

	mu sync.Mutex
	of map[spool.Tenant]count
}

// count is how many jobs were ready at a given time, plus the starts since then.
type count struct {
	at    time.Time
	ready int
}

// Admitted identifies the counts to which a start was added. [Counts.Release] removes it from them.
type Admitted struct{ all, tenant time.Time }

// Admit counts a start of the tenant, and reports whether the bounds allow it. If the start then needs
// no job, the caller must call Release.
func (c *Counts) Admit(ctx context.Context, tenant spool.Tenant) (p Admitted, ok bool, err error) {
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

// Release removes a start from the counts that it was added to. It skips counts that were read since
// then, because they do not include the start.
func (c *Counts) Release(tenant spool.Tenant, p Admitted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(tenant, p)
}

// add counts one more job of a tenant if the bound allows it. Otherwise it returns a zero time.
func (c *Counts) add(ctx context.Context, tenant spool.Tenant, most int) (counted time.Time, ok bool, err error) {
	now, known := c.of[tenant]
	if !known || time.Since(now.at) >= maxAge {
		stats, err := c.Store.Stats(ctx, spool.StatsQuery{Tenant: tenant, Queue: true})
		if err != nil {
			return time.Time{}, false, err
		}
		now = count{at: time.Now(), ready: stats.Queue.Ready}
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

// forget drops old counts if there are many.
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

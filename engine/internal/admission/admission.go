// Package admission refuses starts while too many jobs are ready that need an agent. From the store it reads only the
// counts of these jobs.
package admission

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
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
	Store store.Store
	// Most bounds the ready jobs of all tenants, and MostOfTenant the ready jobs of one. Zero: no
	// bound.
	Most, MostOfTenant int

	mu      sync.Mutex
	of      map[spool.Tenant]count
	reading map[spool.Tenant]*reading
}

// reading is a count that is being read. All who need it wait for the one read, so that a store that does not
// answer delays each of them once, and not one after another.
type reading struct {
	done chan struct{}
	err  error // valid once done is closed
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
	bounds := []bound{{"", c.Most, &p.all}, {tenant, c.MostOfTenant, &p.tenant}}
	for _, b := range bounds {
		if b.most == 0 {
			continue
		}
		if err := c.refresh(ctx, b.tenant); err != nil {
			return Admitted{}, false, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range bounds {
		if b.most == 0 {
			continue
		}
		if *b.counted, ok = c.add(b.tenant, b.most); !ok {
			c.remove(tenant, p)
			return Admitted{}, false, nil
		}
	}
	return p, true, nil
}

// bound is one that a start has to keep, and where it notes the count that it was added to.
type bound struct {
	tenant  spool.Tenant
	most    int
	counted *time.Time
}

// refresh returns once the count of a tenant is young enough. It returns the error of the read that it has waited for.
func (c *Counts) refresh(ctx context.Context, tenant spool.Tenant) error {
	c.mu.Lock()
	if now, known := c.of[tenant]; known && time.Since(now.at) < maxAge {
		c.mu.Unlock()
		return nil
	}
	r := c.reading[tenant]
	if r == nil {
		r = &reading{done: make(chan struct{})}
		if c.reading == nil {
			c.reading = make(map[spool.Tenant]*reading)
		}
		c.reading[tenant] = r
		// The others wait for it too, so it must not end with the first caller.
		go c.read(context.WithoutCancel(ctx), tenant, r)
	}
	c.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read reads the count of a tenant.
func (c *Counts) read(ctx context.Context, tenant spool.Tenant, r *reading) {
	stats, err := c.Store.Stats(ctx, wire.StatsQuery{Tenant: tenant, Queue: true, NeedsAgent: true})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.forget()
		if c.of == nil {
			c.of = make(map[spool.Tenant]count)
		}
		c.of[tenant] = count{at: time.Now(), ready: stats.Queue.Ready}
	}
	delete(c.reading, tenant)
	r.err = err
	close(r.done)
}

// Release removes a start from the counts that it was added to. It skips counts that were read since
// then, because they do not include the start.
func (c *Counts) Release(tenant spool.Tenant, p Admitted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(tenant, p)
}

// add counts one more job of a tenant if the bound allows it. Otherwise it returns a zero time. The count was read a
// moment ago.
func (c *Counts) add(tenant spool.Tenant, most int) (counted time.Time, ok bool) {
	now := c.of[tenant]
	if now.ready >= most {
		return time.Time{}, false
	}
	now.ready++
	c.of[tenant] = now
	return now.at, true
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

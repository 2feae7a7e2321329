package admission

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
)

// admit counts a start, and ends the test unless it was admitted as wanted.
func admit(t *testing.T, c *Counts, tenant spool.Tenant, want bool) Admitted {
	t.Helper()
	p, ok, err := c.Admit(t.Context(), tenant)
	if err != nil || ok != want {
		t.Fatalf("a start of %s is admitted: %t, %v, want %t", tenant, ok, err, want)
	}
	return p
}

// Until a count is too old, starts are added to it and released from it. An older count is read again.
func TestAdmit(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := &Counts{Store: memory.New(nil).Store, Most: 3, MostOfTenant: 2}
		admit(t, c, "acme", true)
		second := admit(t, c, "acme", true)
		admit(t, c, "acme", false) // the tenant's bound is two
		admit(t, c, "other", true) // the third of all tenants
		admit(t, c, "other", false)
		c.Release("acme", second)
		admit(t, c, "other", true)
		<-time.After(maxAge) // nothing was enqueued, so that the queue is empty
		admit(t, c, "acme", true)
		admit(t, c, "acme", true)
	})
}

// A start in an older count is not released from the next count.
func TestReleaseLate(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := &Counts{Store: memory.New(nil).Store, MostOfTenant: 1}
		late := admit(t, c, "acme", true)
		<-time.After(maxAge)
		admit(t, c, "acme", true)
		c.Release("acme", late)
		admit(t, c, "acme", false)
	})
}

func TestNoBounds(t *testing.T) {
	t.Parallel()

	c := &Counts{Store: memory.New(nil).Store}
	for range 3 {
		if _, ok, err := c.Admit(t.Context(), "acme"); !ok || err != nil {
			t.Errorf("a start is admitted: %t, %v", ok, err)
		}
	}
}

// Old counts of many tenants are dropped.
func TestCountsAreForgotten(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := &Counts{Store: memory.New(nil).Store, MostOfTenant: 1}
		for i := range 3 * maxTenants {
			admit(t, c, spool.Tenant(fmt.Sprint("t", i)), true)
			if i%maxTenants == maxTenants-1 {
				<-time.After(maxAge)
			}
		}
		if n := len(c.of); n > maxTenants {
			t.Errorf("%d counts are kept", n)
		}
	})
}

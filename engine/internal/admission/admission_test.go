package admission

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
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

// stuck is a store that answers when it is told to.
type stuck struct {
	store.Store

	asked  atomic.Int64
	answer chan error
}

// Stats implements [store.Store].
func (s *stuck) Stats(context.Context, wire.StatsQuery) (wire.Stats, error) {
	s.asked.Add(1)
	return wire.Stats{}, <-s.answer
}

// Starts that wait for a count wait for the same read and get its error, and one that gives up goes alone.
func TestStuck(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s := &stuck{answer: make(chan error)}
		c := &Counts{Store: s, Most: 3}
		impatient, giveUp := context.WithCancel(t.Context())
		failed := make(chan error, 3)
		for i := range cap(failed) {
			ctx := t.Context()
			if i == 0 {
				ctx = impatient
			}
			go func() {
				_, _, err := c.Admit(ctx, "acme")
				failed <- err
			}()
		}
		synctest.Wait()
		giveUp()
		if err := <-failed; spool.CodeOf(err) != spool.Canceled {
			t.Errorf("the start that gave up: %v", err)
		}
		s.answer <- spool.Errorf(spool.Unavailable, "away")
		for range 2 {
			if err := <-failed; spool.CodeOf(err) != spool.Unavailable {
				t.Errorf("a start that waited: %v", err)
			}
		}
		if n := s.asked.Load(); n != 1 {
			t.Errorf("the store was asked %d times", n)
		}
		go func() { s.answer <- nil }()
		admit(t, c, "acme", true)
	})
}

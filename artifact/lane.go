package artifact

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// lanes are locks by name. They keep the goroutines of a process from writing the same rows at the same time, which
// would make all but one try again. The zero value has none.
type lanes struct {
	mu   sync.Mutex
	open map[string]*lane
}

type lane struct {
	held  chan struct{}
	users int
}

// lock waits for a lock, and returns the function that unlocks it.
func (l *lanes) lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	one := l.open[name]
	if one == nil {
		if l.open == nil {
			l.open = make(map[string]*lane)
		}
		one = &lane{held: make(chan struct{}, 1)}
		l.open[name] = one
	}
	one.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.open, name)
		}
	}
	select {
	case one.held <- struct{}{}:
		return func() {
			<-one.held
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, spool.Wrap(spool.Canceled, "Canceled", ctx.Err())
	}
}

// tenants are the tenants whose rows this process has seen or written.
type tenants struct{ known sync.Map }

// register writes the row that leads a sweep to the tenant.
func (s *Store) register(ctx context.Context, tenant spool.Tenant) error {
	if _, ok := s.tenants.known.Load(tenant); ok {
		return nil
	}
	one, err := read[nothing](ctx, s, "", kindTenant, tenantKey(tenant))
	if err != nil {
		return err
	}
	if !one.exists() {
		if err := s.write(ctx, spool.ThreadKey{}, []store.Row{whatever(one.put())}); err != nil {
			return err
		}
	}
	s.tenants.known.Store(tenant, true)
	return nil
}

// tenantKey returns a key that is not empty.
func tenantKey(tenant spool.Tenant) string { return "tenant:" + string(tenant) }

package enginetest

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// inMemory is the backend of the tests of this package.
var inMemory = Options{Open: func(_ *testing.T, clock store.Clock) store.Backend {
	return memory.New(&memory.Options{Clock: clock})
}}

// TestRemote runs the cases over a store that is reached by network connections, and that each process opens for
// itself: those that need a store, and all of them with SPOOL_TEST_LONG=1. It shows that such a backend can run them,
// also if wake-ups come late: see [Options].
func TestRemote(t *testing.T) {
	t.Parallel()

	address := answers(t)
	var databases sync.Map
	join := func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		once, _ := databases.LoadOrStore(t, sync.OnceValue(func() *database {
			return &database{Store: inMemory.Open(t, clock).Store, live: newLive()}
		}))
		made, _ := once.(func() *database)
		db := made()
		r := &remote{database: db, address: address}
		t.Cleanup(r.hangUp)
		return store.Backend{Store: r, Live: late{db.live}, Shared: true}
	}
	portOnly := os.Getenv("SPOOL_TEST_LONG") != "1"
	Test(t, Options{
		Open: join, Join: join, Remote: true, PortOnly: portOnly,
		Features: spooltest.Features{Durable: true, CrossProcess: true},
	})
}

// late is the Live of one process. Its wake-ups come late, as from a server.
type late struct{ store.Live }

func (l late) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	time.AfterFunc(20*time.Millisecond, func() { l.Live.Wake(topic, kind, notice) })
}

// answers starts a server outside all bubbles. It answers each byte with the same byte.
func answers(t *testing.T) (address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return listener.Addr().String()
}

// database is the data of a case. Its locks are like those of a database server: a bubble cannot see
// that a goroutine waits for one.
type database struct {
	store.Store

	live  store.Live
	locks sync.Map
}

// lock waits for a thread, and returns a function that ends the lock.
func (d *database) lock(key spool.ThreadKey) (unlock func()) {
	lock, _ := d.locks.LoadOrStore(key, &sync.Mutex{})
	mu, _ := lock.(*sync.Mutex)
	mu.Lock()
	return mu.Unlock
}

// remote is the store of one process. Each of its calls needs an answer of the server.
type remote struct {
	*database

	address string

	mu   sync.Mutex
	idle []net.Conn
}

// ask waits for the server.
func (r *remote) ask(ctx context.Context) error {
	c, err := r.take(ctx)
	if err != nil {
		return spool.Wrap(spool.Unavailable, "Storage is not available", err)
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	b := []byte{'?'}
	if _, err = c.Write(b); err == nil {
		_, err = io.ReadFull(c, b)
	}
	if err != nil {
		_ = c.Close()
		return spool.Wrap(spool.Unavailable, "Storage is not available", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, c)
	return nil
}

func (r *remote) take(ctx context.Context) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.idle) - 1; last >= 0 {
		c := r.idle[last]
		r.idle = r.idle[:last]
		return c, nil
	}
	return (&net.Dialer{}).DialContext(context.WithoutCancel(ctx), "tcp", r.address)
}

func (r *remote) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.idle {
		_ = c.Close()
	}
}

func (r *remote) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	if err := r.ask(ctx); err != nil {
		return err
	}
	defer r.lock(key)()
	return r.database.Update(ctx, key, fence, fn)
}

func (r *remote) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	if err := r.ask(ctx); err != nil {
		return err
	}
	return r.database.View(ctx, key, fn)
}

func (r *remote) Claim(ctx context.Context, q store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	if err := r.ask(ctx); err != nil {
		return nil, time.Time{}, err
	}
	return r.database.Claim(ctx, q)
}

func (r *remote) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	if err := r.ask(ctx); err != nil {
		return err
	}
	return r.database.Ack(ctx, d, a)
}

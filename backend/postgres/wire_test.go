package postgres

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// trips counts what goes over the connections of a database: a round trip is an answer to what was sent since the
// last one.
type trips struct {
	trips atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
}

// dial is a dialer whose connections are counted.
func (w *trips) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	counted := &wireConn{Conn: conn, wire: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, counted)
	return counted, nil
}

// cut ends all connections, as a firewall that forgets them does.
func (w *trips) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.conns {
		_ = conn.Close()
	}
	w.conns = nil
}

type wireConn struct {
	net.Conn

	wire *trips
	sent atomic.Bool // since the last answer
}

func (c *wireConn) Write(b []byte) (int, error) {
	c.sent.Store(true)
	return c.Conn.Write(b)
}

func (c *wireConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.sent.Swap(false) {
		c.wire.trips.Add(1)
	}
	return n, err
}

// openWire opens a database over counted connections.
func openWire(t *testing.T, url string, o *Options) (*DB, *trips) {
	t.Helper()
	config, err := poolConfig(url, o)
	if err != nil {
		t.Fatal(err)
	}
	w := &trips{}
	config.ConnConfig.DialFunc = w.dial
	db, err := open(t.Context(), config, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, w
}

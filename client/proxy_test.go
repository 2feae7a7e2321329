package client_test

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// cutter is a proxy that cuts connections after some bytes of the answer.
type cutter struct {
	listener net.Listener
	to       string
	// limit returns after how many bytes the n-th connection, from 1, is cut. Negative: never. It is called by
	// one goroutine.
	limit func(n int64) int64
	// count counts the connections.
	count atomic.Int64

	mu   sync.Mutex
	open map[net.Conn]bool
}

// cutConnections returns a proxy in front of an address.
func cutConnections(t *testing.T, to string, limit func(n int64) int64) *cutter {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &cutter{listener: listener, to: to, limit: limit, open: make(map[net.Conn]bool)}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			limit := p.limit(p.count.Add(1))
			all.Go(func() { p.serve(conn, limit) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.cutAll()
		all.Wait()
	})
	return p
}

func (p *cutter) url() string { return "http://" + p.listener.Addr().String() }

// cutAll cuts all connections that are open.
func (p *cutter) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close()
	}
}

func (p *cutter) track(conn net.Conn) (forget func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[conn] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, conn)
		_ = conn.Close()
	}
}

func (p *cutter) serve(conn net.Conn, limit int64) {
	defer p.track(conn)()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.to)
	if err != nil {
		return
	}
	defer p.track(server)()
	go func() {
		_, _ = io.Copy(server, conn)
		_ = server.Close() // the client is gone
	}()
	var from io.Reader = server
	if limit >= 0 {
		from = io.LimitReader(server, limit)
	}
	_, _ = io.Copy(conn, from)
}

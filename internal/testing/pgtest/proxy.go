package pgtest

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands between clients and a server, and cuts connections when a test says so.
type Proxy struct {
	address  string
	target   string
	listener net.Listener

	mu      sync.Mutex
	refuses bool
	open    map[net.Conn]struct{}
}

// NewProxy returns a proxy before the server of a database's URL. The end of the test closes it.
func NewProxy(tb testing.TB, address string) *Proxy {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{target: u.Host, listener: listener, open: make(map[net.Conn]struct{})}
	p.address = with(address, func(u *url.URL) { u.Host = listener.Addr().String() })
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.serve(conn) })
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		p.Refuse(true)
		p.Cut()
		running.Wait()
	})
	return p
}

// URL returns the address of the database by way of the proxy.
func (p *Proxy) URL() string { return p.address }

// Refuse says whether new connections are closed at once.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = refuse
}

// Cut closes all connections that are open, in the middle of whatever they carry, and returns how many clients
// had one.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close()
	}
	return len(p.open) / 2 // a client's connection has one to the server
}

// serve carries bytes both ways until one side closes.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.add(client, server) {
		return
	}
	defer p.remove(client, server)
	var back sync.WaitGroup
	back.Go(func() { carry(client, server) })
	carry(server, client)
	back.Wait()
}

// carry copies until either side is closed, and then closes both.
func carry(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}

func (p *Proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses {
		return false
	}
	for _, conn := range conns {
		p.open[conn] = struct{}{}
	}
	return true
}

func (p *Proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		delete(p.open, conn)
	}
}

//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
)

// proxy stands between a node and PostgreSQL. It can cut all connections, or the listening connection alone. It can
// refuse new connections, and lose the notifications of the listening one.
type proxy struct {
	target   string
	listener net.Listener

	refuse, mute atomic.Bool
	// swallowed counts the notifications that were lost.
	swallowed atomic.Int64
	running   sync.WaitGroup

	mu   sync.Mutex
	open map[*link]struct{}
}

// link is a connection through the proxy.
type link struct {
	client, server net.Conn
	listens        atomic.Bool
}

func (l *link) cut() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// newProxy returns a proxy before the server of a database's address.
func newProxy(ctx context.Context, address string) (*proxy, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{target: u.Host, listener: listener, open: make(map[*link]struct{})}
	p.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(ctx, conn) })
		}
	})
	return p, nil
}

// url returns the address of a database by way of the proxy.
func (p *proxy) url(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

// cut closes the connections, or only those that listen, and returns how many there were.
func (p *proxy) cut(onlyListening bool) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		if !onlyListening || l.listens.Load() {
			l.cut()
			n++
		}
	}
	return n
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.refuse.Store(true)
	p.cut(false)
	p.running.Wait()
}

// serve carries bytes both ways until one side closes.
func (p *proxy) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	if p.refuse.Load() {
		return
	}
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	l := &link{client: client, server: server}
	defer l.cut()
	p.mu.Lock()
	p.open[l] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, l)
	}()
	var back sync.WaitGroup
	back.Go(func() {
		p.carry(l, client, server, func(b []byte) bool {
			if !l.listens.Load() || !p.mute.Load() {
				return true
			}
			p.swallowed.Add(notifications(b))
			return false
		})
	})
	p.carry(l, server, client, func(b []byte) bool {
		if bytes.Contains(b, []byte("LISTEN ")) {
			l.listens.Store(true)
		}
		return true
	})
	back.Wait()
}

// notifications counts the notifications in messages of the server. A message that begins in the middle ends the
// count.
func notifications(b []byte) (n int64) {
	for len(b) >= 5 {
		if b[0] == 'A' { // NotificationResponse
			n++
		}
		length := 1 + int(binary.BigEndian.Uint32(b[1:]))
		if length < 5 || length > len(b) {
			break
		}
		b = b[length:]
	}
	return n
}

// carry copies what pass lets through until either side is closed, and then closes both.
func (p *proxy) carry(l *link, to, from net.Conn, pass func([]byte) bool) {
	defer l.cut()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && pass(buffer[:n]) {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

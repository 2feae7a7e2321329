package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
)

const (
	dialTimeout = 15 * time.Second
	keepAlive   = 30 * time.Second
	maxIdle     = 32
	idleTimeout = 60 * time.Second
)

// Transport is an [http.RoundTripper] that enforces a policy. It checks every request of a redirect
// again. It uses no proxy, because a proxy would dial in its place.
//
// For a refused request, the error of the request wraps a [spool.Error] with the code forbidden.
type Transport struct {
	rules *rules
	http  *http.Transport
	// Resolver resolves names. It must not be changed once the transport is in use. Nil: the system's
	// resolver.
	Resolver *net.Resolver
}

// New returns a transport. It returns an invalid error that names the entry of Allow that is neither a
// host, nor an address, nor a prefix.
func New(policy Policy) (*Transport, error) {
	rules, err := policy.rules()
	if err != nil {
		return nil, err
	}
	t := &Transport{rules: rules}
	t.http = &http.Transport{
		Proxy:                 nil,
		DialContext:           t.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          maxIdle,
		IdleConnTimeout:       idleTimeout,
		TLSHandshakeTimeout:   dialTimeout,
		ExpectContinueTimeout: time.Second,
	}
	return t, nil
}

// RoundTrip implements [http.RoundTripper]. It refuses schemes other than http and https.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if s := r.URL.Scheme; s != "http" && s != "https" {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, spool.Errorf(spool.Forbidden, "scheme %q is not allowed, only http and https are", s)
	}
	return t.http.RoundTrip(r)
}

// CloseIdleConnections closes the connections that no request uses.
func (t *Transport) CloseIdleConnections() { t.http.CloseIdleConnections() }

// DialContext connects to an address over TCP if the policy allows it. It can be used as the dial
// function of other clients.
func (t *Transport) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	d := &net.Dialer{
		Timeout:   dialTimeout,
		KeepAlive: keepAlive,
		Resolver:  t.Resolver,
		Control: func(network, resolved string, _ syscall.RawConn) error {
			return t.control(host, network, resolved)
		},
	}
	return d.DialContext(ctx, network, address)
}

// control is called with each address to which the host resolved, after the socket is created and
// before it connects, so that the address cannot change in between.
func (t *Transport) control(host, network, resolved string) error {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return spool.Errorf(spool.Forbidden, "network %q is not allowed, only TCP is", network)
	}
	at, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("parse address of %s: %w", host, err)
	}
	return t.rules.check(host, at.Addr())
}

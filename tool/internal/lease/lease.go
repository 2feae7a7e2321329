// Package lease keeps requests of a tool call from leaving once the call's worker may have lost its run.
package lease

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/spoolhq/spool"
)

type callKey struct{}

// With returns a context that knows the call whose requests are made with it.
func With(ctx context.Context, call spool.ToolCall) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// Check is [spool.ToolCall.CheckLease] of the context's call. It returns nil for a context without one.
func Check(ctx context.Context) error {
	call, _ := ctx.Value(callKey{}).(spool.ToolCall)
	return call.CheckLease(ctx)
}

// Guard checks the lease again when a request gets its connection. A dial may take long, net/http repeats a request on
// its own if a kept connection breaks, and it follows redirects: each of them gets a connection before it is written.
type Guard struct {
	// Check returns an error if the request must not leave.
	Check func() error

	left    atomic.Bool
	refused atomic.Pointer[error]
}

// GotConn is for a [httptrace.ClientTrace]. Cancel ends the context of the request. If the check fails, nothing is
// written to the connection: a request over HTTP/2 looks at its context before it writes, and one over HTTP/1 does not,
// so its connection is closed.
func (g *Guard) GotConn(info httptrace.GotConnInfo, cancel context.CancelFunc) {
	err := g.Check()
	if err == nil {
		g.left.Store(true)
		return
	}
	g.refused.Store(&err)
	cancel()
	if secure, ok := info.Conn.(*tls.Conn); !ok || secure.ConnectionState().NegotiatedProtocol != "h2" {
		_ = info.Conn.Close()
	}
}

// Refused returns the error with which a check failed, or nil. It is nil, too, if a request may have left before: the
// outcome of the call is then unknown.
func (g *Guard) Refused() error {
	if err := g.refused.Load(); err != nil && !g.left.Load() {
		return *err
	}
	return nil
}

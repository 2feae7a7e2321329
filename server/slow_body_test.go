package server_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/server"
)

// oneConn is a listener of a single connection.
type oneConn struct{ conns chan net.Conn }

func (l oneConn) Accept() (net.Conn, error) {
	if conn, ok := <-l.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l oneConn) Close() error {
	close(l.conns)
	return nil
}

func (oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// Who announces a body and does not send it is answered and let go all the same, also where
// nobody is known, and where nobody reads the body.
func TestSlowBody(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		request, token string
		status         int
	}{
		"NoToken":    {"POST " + runPath, "", 401},
		"NoScope":    {"POST " + runPath, readOnlyA, 403},
		"NoPath":     {"POST /nothing", "", 404},
		"NotAllowed": {"PUT " + runPath, "", 405},
		"NoQueue":    {"POST " + queuePath, "", 401},
		"OfGet":      {"GET /healthz", "", 200},
		"Options":    {"OPTIONS " + runPath, "", 204},
		"Read":       {"POST " + runPath, tokenA, 400},
		"NoUpload":   {"POST " + artifactsPath + "?threadId=none", tokenA, 404},
	} {
		for _, length := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
			t.Run(name+"/"+length, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					here, there := net.Pipe()
					listener := oneConn{make(chan net.Conn, 1)}
					listener.conns <- there
					s := &http.Server{
						Handler: newServer(t, memory.New(nil),
							server.Config{Authenticator: twoTenants(t), Log: slog.New(slog.DiscardHandler)}),
						ReadHeaderTimeout: time.Second,
					}
					defer s.Close()
					go func() { _ = s.Serve(listener) }()

					began := time.Now()
					if _, err := io.WriteString(
						here, c.request+" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+c.token+"\r\n"+length+"\r\n\r\n",
					); err != nil {
						t.Fatal(err)
					}
					// Without an end to the wait the bubble is stuck here, which fails the test.
					text, err := io.ReadAll(here)
					if want := fmt.Sprintf("HTTP/1.1 %d ", c.status); err != nil || !strings.HasPrefix(string(text), want) {
						t.Errorf("got %.60q, %v, want %s", text, err, want)
					}
					if took := time.Since(began); took > 2*time.Minute {
						t.Errorf("it took %s", took)
					}
				})
			})
		}
	}
}

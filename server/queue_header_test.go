package server_test

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/verify"
)

// headerVerifier judges a delivery by one header, before the body and with it.
type headerVerifier struct{ verifier }

func (v headerVerifier) VerifyHeader(r *http.Request) error {
	if r.Header.Get("Signature") == "" {
		return errors.New("secret: no signature")
	}
	return nil
}

// Who delivers headers and never the body has an answer at once if the headers are wrong, or
// if they announce a body that is too large.
func TestQueueHeadersWithoutBody(t *testing.T) {
	t.Parallel()

	const large, whole = 64<<10 + 1, 1<<20 + 1
	for name, c := range map[string]struct {
		verifier verify.Verifier
		header   string
		status   int
		within   time.Duration
	}{
		"NoQueue":   {nil, "Content-Length: 100\r\n", 401, 0},
		"Unsigned":  {headerVerifier{}, "Content-Length: 100\r\n", 401, 0},
		"Chunked":   {headerVerifier{}, "Transfer-Encoding: chunked\r\n", 401, 0},
		"Large":     {headerVerifier{}, "Content-Length: " + strconv.Itoa(whole) + "\r\n", 401, 0},
		"TooLarge":  {headerVerifier{}, "Signature: s{\r\nContent-Length: " + strconv.Itoa(whole) + "\r\n", 413, 0},
		"NeedsBody": {verifier{}, "Content-Length: " + strconv.Itoa(large) + "\r\n", 413, 0},
		"NotSent":   {headerVerifier{}, "Signature: s{\r\nContent-Length: 100\r\n", 400, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				defer here.Close()
				listener := oneConn{make(chan net.Conn, 1)}
				listener.conns <- there
				s := &http.Server{
					Handler: newServer(t, memory.New(nil), server.Config{
						Authenticator: twoTenants(t), QueueVerifier: c.verifier, Log: slog.New(slog.DiscardHandler),
					}),
					ReadHeaderTimeout: time.Second,
				}
				defer s.Close()
				go func() { _ = s.Serve(listener) }()

				began := time.Now()
				if _, err := io.WriteString(here, "POST "+queuePath+" HTTP/1.1\r\nHost: a\r\n"+c.header+"\r\n"); err != nil {
					t.Fatal(err)
				}
				// The time is that of the bubble: an answer within 0 waited for nothing.
				answer := bufio.NewReader(here)
				res, err := http.ReadResponse(answer, nil)
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				defer res.Body.Close()
				if _, err := io.Copy(io.Discard, answer); err != nil { // until the server closes
					t.Error(err)
				}
				if res.StatusCode != c.status || took > c.within || !res.Close {
					t.Errorf("%d after %s (closes: %v), want %d within %s", res.StatusCode, took, res.Close, c.status, c.within)
				}
			})
		})
	}
}

// A verifier that needs the body has 64 KiB read for it, and one that has judged the headers 1 MiB.
func TestQueueBodyLimit(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		verifier verify.Verifier
		limit    int
	}{
		"NeedsBody": {verifier{signature: "s"}, 64 << 10},
		"Header":    {headerVerifier{verifier{signature: "s"}}, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, server.Config{QueueVerifier: c.verifier})
			const job = `{"tenant":"a","threadId":"t1","runId":"r1","agent":"assistant"}`
			for _, chunked := range []bool{false, true} {
				for size, want := range map[int]int{c.limit: http.StatusOK, c.limit + 1: http.StatusRequestEntityTooLarge} {
					got := b.doChunked(t, call{
						method: http.MethodPost, path: queuePath, body: job + strings.Repeat(" ", size-len(job)),
						header: map[string]string{"Signature": "s{"},
					}, chunked)
					if got.status != want {
						t.Errorf("%d bytes (chunked %v): %d %s, want %d", size, chunked, got.status, got.body, want)
					}
				}
			}
		})
	}
}

package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/wire"
)

// verifier lets through what has the right signature, and everything when it has none.
type verifier struct{ signature string }

func (v verifier) Verify(r *http.Request, body []byte) error {
	if v.signature != "" && r.Header.Get("Signature") != v.signature+string(body[:1]) {
		return errors.New("secret: wrong signature")
	}
	return nil
}

func TestQueueClosed(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for _, body := range []string{"", "{", `{"threadId":"t1","runId":"r1","agent":"assistant"}`} {
		got := b.as(t, tokenA, http.MethodPost, queuePath, body)
		if got.status != http.StatusUnauthorized ||
			got.body != `{"error":"no queue may deliver here","code":"unauthorized"}` {
			t.Errorf("%q: %d %s", body, got.status, got.body)
		}
	}
}

// On loopback, a delivery is asked for its signature before anything else.
func TestQueueLoopback(t *testing.T) {
	t.Parallel()

	headers := map[string]map[string]string{
		"Plain":   {},
		"NoType":  {"Content-Type": ""},
		"Text":    {"Content-Type": "text/plain"},
		"Host":    {"Host": "queue.example"},
		"Origin":  {"Origin": "https://evil.example"},
		"Forging": {"Host": "queue.example", "Content-Type": "text/plain", "Signature": "forged"},
	}
	closed := setup(t, server.Config{Insecure: true, Loopback: true})
	open := setup(t, server.Config{Insecure: true, Loopback: true, QueueVerifier: verifier{signature: "s"}})
	for name, header := range headers {
		c := call{method: http.MethodPost, path: queuePath, body: "{}", header: header}
		if got := closed.do(t, c); got.status != http.StatusUnauthorized ||
			got.body != `{"error":"no queue may deliver here","code":"unauthorized"}` {
			t.Errorf("%s without a verifier: %d %s", name, got.status, got.body)
		}
		if got := open.do(t, c); got.status != http.StatusUnauthorized {
			t.Errorf("%s with a verifier: %d %s", name, got.status, got.body)
		}
	}

	// What the queue has signed is no page's, whatever name it came by.
	open.do(t, call{method: http.MethodPost, path: runPath, body: `{"threadId":"t1","runId":"r1","prompt":"hello"}`})
	got := open.do(t, call{
		method: http.MethodPost, path: queuePath, body: `{"threadId":"t1","runId":"r1","agent":"assistant"}`,
		header: map[string]string{"Signature": "s{", "Host": "queue.example", "Content-Type": "text/plain"},
	})
	if got.status != http.StatusOK {
		t.Errorf("a signed delivery: %d %s", got.status, got.body)
	}
	// Only the delivery itself has a signature.
	if got := open.do(
		t, call{method: http.MethodGet, path: queuePath, header: map[string]string{"Host": "queue.example"}},
	); got.status != http.StatusForbidden {
		t.Errorf("GET: %d %s", got.status, got.body)
	}
}

func TestQueueDelivery(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{QueueVerifier: verifier{signature: "s"}})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","runId":"r1","prompt":"hello"}`)
	const job = `{"tenant":"a","threadId":"t1","runId":"r1","agent":"assistant"}`

	forged := b.do(t, call{
		method: http.MethodPost, path: queuePath, body: job, header: map[string]string{"Signature": "forged"},
	})
	if forged.status != http.StatusUnauthorized ||
		forged.body != `{"error":"the delivery is not signed by the queue","code":"unauthorized"}` {
		t.Errorf("forged: %d %s", forged.status, forged.body)
	}
	for range 2 { // twice is as good as once
		got := b.do(t, call{
			method: http.MethodPost, path: queuePath, body: job, header: map[string]string{"Signature": "s{"},
		})
		if got.status != http.StatusOK || got.body != `{"accepted":true}` {
			t.Errorf("delivery: %d %s", got.status, got.body)
		}
	}
	b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, state(wire.Completed))
}

// Shutting down hands back the run of a delivery, and a later delivery is refused.
func TestQueueShutdown(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{QueueVerifier: verifier{}})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","runId":"r1","prompt":"slow 10000"}`)
	const job = `{"tenant":"a","threadId":"t1","runId":"r1","agent":"assistant"}`
	b.as(t, tokenA, http.MethodPost, queuePath, job)
	watch := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	watch.until(t, state(wire.Running))

	if err := b.server.Shutdown(patiently(t)); err != nil {
		t.Fatal(err)
	}
	watch.until(t, state(wire.Queued))
	got := b.as(t, tokenA, http.MethodPost, queuePath, job)
	if got.status != http.StatusServiceUnavailable ||
		got.body != `{"error":"the server is shutting down","code":"unavailable"}` ||
		got.header.Get("Retry-After") == "" {
		t.Errorf("after shutdown: %d %s", got.status, got.body)
	}
}

// failing is a verifier that fails in one way.
type failing struct{ err error }

func (f failing) Verify(*http.Request, []byte) error { return f.err }

// A queue keeps what cannot be verified at the moment, and gives up what is forged.
func TestQueueUnverifiable(t *testing.T) {
	t.Parallel()

	away := &spool.Error{Code: spool.Unavailable, Message: "secret: no keys", Err: errors.New("dial")}
	forged := errors.New("secret: forged")
	const later = `{"error":"deliveries cannot be verified at the moment","code":"unavailable"}`
	const no = `{"error":"the delivery is not signed by the queue","code":"unauthorized"}`
	for name, c := range map[string]struct {
		verifier verify.Verifier
		status   int
		body     string
	}{
		"Away":      {failing{away}, 503, later},
		"Wrapped":   {failing{fmt.Errorf("google: %w", away)}, 503, later},
		"AwayFirst": {verify.Any(failing{away}, failing{forged}), 503, later},
		"AwayLast": {
			verify.Any(failing{forged}, failing{spool.Errorf(spool.Unauthorized, "x")}, failing{away}), 503, later,
		},
		"Forged":     {verify.Any(failing{forged}, failing{forged}), 401, no},
		"ForgedCode": {failing{spool.Errorf(spool.Unauthorized, "secret: forged")}, 401, no},
	} {
		b := setup(t, server.Config{QueueVerifier: c.verifier})
		got := b.as(t, "", http.MethodPost, queuePath, `{"threadId":"t1","runId":"r1","agent":"assistant"}`)
		if got.status != c.status || got.body != c.body || (got.waits() > 0) != (c.status == 503) {
			t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
		}
	}
}

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/probe"
)

// ready is the body of GET /readyz.
type ready struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks"`
	Error  string            `json:"error"`
	Code   string            `json:"code"`
}

// probe asks a server without a network, so that it works in a bubble.
func readyz(t *testing.T, s *server.Server) (int, ready) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
	var body ready
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return w.Code, body
}

func readyServer(t *testing.T, checks map[string]probe.Check) *server.Server {
	t.Helper()
	return newServer(t, memory.New(nil), server.Config{Insecure: true, Checks: checks})
}

// The answer says which check failed, in the words that are for everybody, and what it says
// holds for a second. A shutdown is told at once.
func TestReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failure atomic.Pointer[error]
		var asked atomic.Int32
		s := readyServer(t, map[string]probe.Check{"worker": func(context.Context) error {
			asked.Add(1)
			if err := failure.Load(); err != nil {
				return *err
			}
			return nil
		}})
		fail := func(err error) { failure.Store(&err) }
		check := func(when string, status int, want ready) {
			t.Helper()
			got, body := readyz(t, s)
			if diff := cmp.Diff(want, body); got != status || diff != "" {
				t.Errorf("%s: %d (-want +got):\n%s", when, got, diff)
			}
		}
		well := ready{Status: "ok", Checks: map[string]string{"store": "ok", "worker": "ok", "shutdown": "ok"}}
		check("well", 200, well)
		fail(&spool.Error{Code: spool.Unavailable, Message: "no worker runs", Err: errors.New("secret")})
		check("at once", 200, well)
		if asked.Load() != 1 {
			t.Errorf("two probes have asked %d times", asked.Load())
		}
		<-time.After(time.Second)
		check("without a worker", 503, ready{
			Status: "unavailable", Error: "worker: no worker runs", Code: "unavailable",
			Checks: map[string]string{"store": "ok", "worker": "no worker runs", "shutdown": "ok"},
		})
		fail(errors.New("secret: the password is wrong"))
		<-time.After(time.Second)
		check("with an error without a code", 503, ready{
			Status: "unavailable", Error: "worker: Internal error", Code: "unavailable",
			Checks: map[string]string{"store": "ok", "worker": "Internal error", "shutdown": "ok"},
		})
		failure.Store(nil)
		<-time.After(time.Second)
		check("well again", 200, well)
		s.Drain()
		check("while it shuts down", 503, ready{
			Status: "unavailable", Error: "shutdown: the server shuts down", Code: "unavailable",
			Checks: map[string]string{"store": "ok", "worker": "ok", "shutdown": "the server shuts down"},
		})
	})
}

// A check that hangs does not hold the probe, nor the checks beside it.
func TestReadyOfACheckThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		s := readyServer(t, map[string]probe.Check{"worker": func(context.Context) error {
			<-let
			return nil
		}})
		began := time.Now()
		status, body := readyz(t, s)
		if status != 503 || body.Checks["worker"] != "did not answer in time" || body.Checks["store"] != "ok" {
			t.Errorf("%d %+v", status, body)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
		close(let)
	})
}

func TestDrainGoesOnAnswering(t *testing.T) {
	t.Parallel()
	b := setup(t, server.Config{})
	b.server.Drain()
	if got := b.as(t, tokenA, "POST", runPath, `{"threadId":"t1","prompt":"hi"}`); got.status != http.StatusAccepted {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.as(t, "", "GET", "/readyz", ""); got.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.as(t, "", "GET", "/healthz", ""); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}

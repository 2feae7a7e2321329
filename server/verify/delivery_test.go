package verify_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// consumer is a server without a worker: its runs move by deliveries only.
type consumer struct {
	t      *testing.T
	scheme scheme
	engine *engine.Engine
	server *server.Server
	logged *syncBuffer
}

// syncBuffer is a buffer for several who write.
type syncBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

func newConsumer(t *testing.T, s scheme) *consumer {
	t.Helper()

	c := &consumer{t: t, scheme: s, logged: &syncBuffer{}}
	log := slog.New(slog.NewTextHandler(c.logged, nil))
	var err error
	c.engine, err = engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Log:    log,
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.server, err = server.New(
		c.engine, server.Config{Insecure: true, Loopback: true, QueueVerifier: s.verifier(t), Log: log},
	); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.engine.Close()
		if err := c.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *consumer) call(method, path, body string, header http.Header) *httptest.ResponseRecorder {
	c.t.Helper()

	r := httptest.NewRequestWithContext(c.t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	return w
}

func (c *consumer) start(run, prompt string) {
	c.t.Helper()

	w := c.call(http.MethodPost, "/api/agent/run", `{"threadId":"t1","runId":"`+run+`","prompt":"`+prompt+`"}`, nil)
	if w.Code != http.StatusAccepted {
		c.t.Fatalf("start %s: %d %s", run, w.Code, w.Body)
	}
}

func job(run, agent string) string {
	return `{"threadId":"t1","runId":"` + run + `","agent":"` + agent + `"}`
}

// deliver delivers what the sender has signed, and compares the status.
func (c *consumer) deliver(
	body string, sign func(*testing.T, http.Header, []byte), want int,
) *httptest.ResponseRecorder {
	c.t.Helper()

	header := http.Header{}
	if sign != nil {
		sign(c.t, header, []byte(body))
	}
	w := c.call(http.MethodPost, "/api/queue/agent-run", body, header)
	if w.Code != want {
		c.t.Errorf("delivery: %d %s, want %d", w.Code, w.Body, want)
	}
	return w
}

func (c *consumer) snapshot() *wire.Snapshot {
	c.t.Helper()

	w := c.call(http.MethodGet, "/api/agent/history?threadId=t1", "", nil)
	var s wire.Snapshot
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != http.StatusOK {
		c.t.Fatalf("history: %d %v", w.Code, err)
	}
	return &s
}

// expect compares the state of the thread, and how many messages and runs it has.
func (c *consumer) expect(state wire.State, messages, runs int) {
	c.t.Helper()

	s := c.snapshot()
	if s.Thread.State != state || len(s.Messages) != messages || len(s.Runs) != runs {
		c.t.Errorf("the thread is %s with %d messages and %d runs; want %s, %d, %d",
			s.Thread.State, len(s.Messages), len(s.Runs), state, messages, runs)
	}
}

// settle lets all that was started come to rest, however long it takes.
func settle() {
	<-time.After(time.Minute)
	synctest.Wait()
}

// each runs a test for each scheme, in fake time. Keys are made before that.
func each(t *testing.T, test func(c *consumer)) {
	t.Helper()

	googleKeys()
	for name, s := range schemes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) { test(newConsumer(t, s)) })
		})
	}
}

// What the queue has not signed does nothing, and what is wrong is told to the log only.
func TestForged(t *testing.T) {
	t.Parallel()

	each(t, func(c *consumer) {
		c.start("r1", "hello")
		body := job("r1", "assistant")
		c.deliver(body, nil, http.StatusUnauthorized)
		c.deliver("", nil, http.StatusUnauthorized)
		for name, forge := range c.scheme.forgers {
			w := c.deliver(body, forge, http.StatusUnauthorized)
			if want := `{"error":"the delivery is not signed by the queue","code":"unauthorized"}`; strings.TrimSpace(w.Body.String()) != want {
				c.t.Errorf("%s: %s", name, w.Body)
			}
		}
		if c.scheme.signsBody {
			other := func(t *testing.T, h http.Header, _ []byte) {
				t.Helper()
				c.scheme.sign(t, h, []byte(job("r2", "assistant")))
			}
			c.deliver(body, other, http.StatusUnauthorized)
		}
		settle()
		c.expect(wire.Queued, 1, 1)

		log := c.logged.String()
		if !strings.Contains(log, "queue delivery refused") {
			c.t.Error("nothing is in the log")
		}
		for _, hidden := range []string{webhookSecret[6:], qstashKey, sharedSecret, "eyJ", "v1,"} {
			if strings.Contains(log, hidden) {
				c.t.Errorf("the log has %q:\n%s", hidden, log)
			}
		}
	})
}

// A delivery is acknowledged at once, and however often it comes, also while it is executed
// and long after, the run is executed once.
func TestDuplicated(t *testing.T) {
	t.Parallel()

	each(t, func(c *consumer) {
		c.start("r1", "slow 5")
		body := job("r1", "assistant")
		for range 3 {
			w := c.deliver(body, c.scheme.sign, http.StatusOK)
			if got := strings.TrimSpace(w.Body.String()); got != `{"accepted":true}` {
				c.t.Errorf("delivery: %s", got)
			}
		}
		synctest.Wait()
		c.expect(wire.Running, 1, 1) // the answer did not wait for the work
		c.deliver(body, c.scheme.sign, http.StatusOK)
		settle()
		c.expect(wire.Completed, 2, 1)

		last := c.snapshot().LastEventSeq
		c.deliver(body, c.scheme.sign, http.StatusOK)
		settle()
		if again := c.snapshot(); again.LastEventSeq != last {
			c.t.Errorf("a late duplicate wrote entries %d to %d", last+1, again.LastEventSeq)
		}
	})
}

// A job that comes late does nothing to the run that the thread has by then, and one of a
// run that does not exist does nothing at all.
func TestReordered(t *testing.T) {
	t.Parallel()

	each(t, func(c *consumer) {
		c.start("r1", "hello")
		c.deliver(job("r2", "assistant"), c.scheme.sign, http.StatusOK)
		settle()
		c.expect(wire.Queued, 1, 1)

		c.deliver(job("r1", "assistant"), c.scheme.sign, http.StatusOK)
		settle()
		c.start("r2", "slow 5")
		c.deliver(job("r1", "assistant"), c.scheme.sign, http.StatusOK)
		settle()
		c.expect(wire.Queued, 3, 2)

		c.deliver(job("r2", "assistant"), c.scheme.sign, http.StatusOK)
		c.deliver(job("r1", "assistant"), c.scheme.sign, http.StatusOK)
		settle()
		c.expect(wire.Completed, 4, 2)
	})
}

// The queue keeps a job for whose agent it came to the wrong process.
func TestUnknownAgent(t *testing.T) {
	t.Parallel()

	each(t, func(c *consumer) {
		c.start("r1", "hello")
		w := c.deliver(job("r1", "translator"), c.scheme.sign, http.StatusServiceUnavailable)
		if w.Header().Get("Retry-After") == "" {
			c.t.Errorf("it does not say when to come back: %v", w.Header())
		}
		// Nobody learns of agents without a signature.
		c.deliver(job("r1", "translator"), nil, http.StatusUnauthorized)
		settle()
		c.expect(wire.Queued, 1, 1)
	})
}

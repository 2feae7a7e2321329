package relay_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/relay"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	consumer = "http://consumer.example/api/queue/agent-run"
)

// sweepEvery is the time between sweeps, at which no push of a test is due: a sweep between the
// receiver's yes and its claim finds the run without a job, and adds a ticket that does nothing.
const sweepEvery = 90 * time.Minute

var thread = spool.ThreadKey{Tenant: "a", ID: "t1"}

// link is the network between a relay and its receiver. It lets the test fail a push, or have
// it reach the receiver.
type link struct {
	receiver http.Handler
	// fault takes each push, the n-th from 1, and may let it through.
	fault fault

	mu     sync.Mutex
	pushes []sent
}

type fault = func(l *link, r *http.Request, n int) (*http.Response, error)

// sent is a request as it was made.
type sent struct {
	at        time.Time
	id, stamp string
	body      string
}

// RoundTrip implements [http.RoundTripper].
func (l *link) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	l.mu.Lock()
	l.pushes = append(l.pushes, sent{
		time.Now(), r.Header.Get(webhook.HeaderID), r.Header.Get(webhook.HeaderTimestamp), string(body),
	})
	n := len(l.pushes)
	l.mu.Unlock()
	return l.fault(l, r, n)
}

// through has the receiver handle a push.
func (l *link) through(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	l.receiver.ServeHTTP(w, r)
	return w.Result(), nil
}

func (l *link) seen() []sent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]sent(nil), l.pushes...)
}

// forget leaves out some of what was seen.
func (l *link) forget(some func(p sent) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pushes = slices.DeleteFunc(l.pushes, some)
}

func answers(status int, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// bundle is two processes over one backend: one that takes prompts and pushes, and one that
// takes deliveries and executes them.
type bundle struct {
	backend store.Backend
	front   *engine.Engine
	link    *link
	// idle and busy are the models of the one that pushes, and of the one that executes.
	idle, busy *spooltest.Model
}

func setup(t *testing.T, f fault) *bundle {
	t.Helper()

	b := &bundle{backend: memory.New(nil), idle: spooltest.NewModel(), busy: spooltest.NewModel(spooltest.Say("hi"))}
	b.front = newEngine(t, b.backend, b.idle)
	back := newEngine(t, b.backend, b.busy)
	verifier, err := webhook.New(webhook.Config{Secrets: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	surface, err := server.New(back, server.Config{Authenticator: access.Anonymous("a"), QueueVerifier: verifier})
	if err != nil {
		t.Fatal(err)
	}
	b.link = &link{receiver: surface, fault: f}
	t.Cleanup(func() {
		if err := surface.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func newEngine(t *testing.T, b store.Backend, m spool.Model) *engine.Engine {
	t.Helper()

	e, err := engine.New(b, engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "m"}}, Models: map[string]spool.Model{"m": m},
		Worker: option.Worker{SweepEvery: sweepEvery},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// push pushes jobs until the test ends or stop is called.
func (b *bundle) push(t *testing.T, c relay.Config, o engine.WorkOptions) (stop func()) {
	t.Helper()

	c.URL, c.Secrets, c.Transport = consumer, []string{secret}, b.link
	r, err := relay.New(c)
	if err != nil {
		t.Fatal(err)
	}
	o.Deliver = r.Deliver
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.front.Work(ctx, o) }()
	synctest.Wait() // its first sweep is done
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("work: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func (b *bundle) start(t *testing.T, key spool.ThreadKey) {
	t.Helper()

	r, err := b.front.Run(t.Context(), key, wire.StartRequest{Prompt: "go", RunID: spool.RunID("run-" + key.ID)})
	if err != nil || !r.Accepted {
		t.Fatalf("start: %+v, %v", r, err)
	}
}

func (b *bundle) run(t *testing.T) (run store.RunRow) {
	t.Helper()

	err := b.backend.Store.View(t.Context(), thread, func(v store.View) (err error) {
		run, err = store.FindRun(v, "run-t1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (b *bundle) stats(t *testing.T) wire.QueueStats {
	t.Helper()

	s, err := b.backend.Store.Stats(t.Context(), wire.StatsQuery{Queue: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.Queue
}

// completed checks that the run was executed once, by the receiver, and left nothing.
func (b *bundle) completed(t *testing.T) {
	t.Helper()

	if r := b.run(t); r.State != wire.Completed || r.Segments != 1 {
		t.Errorf("the run is %s after %d segments: %s", r.State, r.Segments, r.Error)
	}
	if here, there := b.idle.Asked(), b.busy.Asked(); here != 0 || there != 1 {
		t.Errorf("the model was asked %d times here and %d times there", here, there)
	}
	if s := b.stats(t); s.Ready+s.Delayed+s.InFlight+s.Dead != 0 {
		t.Errorf("the queue: %+v", s)
	}
}

// pass lets time of the bubble pass, and all happen that is due then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

package command

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// answer is what a request came to.
type answer struct {
	status int
	header http.Header
	body   string
	took   time.Duration
}

// request sends one request and reads its answer.
func (p *process) request(ctx context.Context, method, path, body string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	began := time.Now()
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(text), time.Since(began)}, err
}

// needDatabase are requests that no process can answer without its database.
var needDatabase = []struct{ method, path, body string }{
	{http.MethodPost, "/api/agent/run", `{"threadId":"t2","runId":"r2","prompt":"hello"}`},
	{http.MethodPost, "/api/agent/run", `{"threadId":"t1","runId":"r3","prompt":"hello"}`},
	{http.MethodPost, "/api/agent/run", `{"prompt":"hello"}`},
	{http.MethodGet, "/api/agent/history?threadId=t1", ""},
	{http.MethodGet, "/api/agent/history?threadId=unknown", ""},
	{http.MethodGet, "/api/agent/stream?threadId=other", ""},
	{http.MethodGet, "/api/threads", ""},
	{http.MethodPost, "/api/agent/control", `{"threadId":"t1","action":"stop"}`},
	{http.MethodPost, "/api/agent/respond", `{"threadId":"t1","runId":"r1","toolCallId":"c1","approved":true}`},
	{http.MethodDelete, "/api/threads?threadId=t1", ""},
	{http.MethodGet, "/api/admin/overview", ""},
}

// unplugged checks that all requests that need the database are refused within a time, all sent at once, and that
// the probes say what they have to.
func unplugged(t *testing.T, p *process, database string, within time.Duration) {
	t.Helper()

	u, password := parsed(t, database)
	secrets := []string{password, u.Host, u.Port(), strings.TrimPrefix(u.Path, "/")}
	ctx := testwait.Context(t, "answers without a database")
	var all sync.WaitGroup
	for range 3 { // so that some wait for a connection
		for _, r := range needDatabase {
			all.Go(func() {
				name := r.method + " " + r.path
				got, err := p.request(ctx, r.method, r.path, r.body)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if after, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != http.StatusServiceUnavailable ||
					err != nil || after < 1 {
					t.Errorf("%s: %d with Retry-After %q: %s", name, got.status, got.header.Get("Retry-After"), got.body)
				}
				if !strings.Contains(got.body, `"code":"unavailable"`) || !strings.Contains(got.body, `"error":"`) {
					t.Errorf("%s: the body is %s", name, got.body)
				}
				for _, secret := range secrets {
					if strings.Contains(got.body, secret) {
						t.Errorf("%s: the body has %q: %s", name, secret, got.body)
					}
				}
				if got.took > within {
					t.Errorf("%s took %s, want %s at most", name, got.took, within)
				}
			})
		}
	}
	all.Wait()
	if got, err := p.request(ctx, http.MethodGet, "/healthz", ""); err != nil || got.status != http.StatusOK ||
		got.took > 2*time.Second {
		t.Errorf("/healthz: %+v, %v", got, err)
	}
	got, err := p.request(ctx, http.MethodGet, "/readyz", "")
	if err != nil || got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, `"code":"unavailable"`) ||
		!strings.Contains(got.body, `"store":"`) {
		t.Errorf("/readyz: %+v, %v", got, err)
	}
}

// parsed returns the parts of a database's URL.
func parsed(t *testing.T, database string) (u *url.URL, password string) {
	t.Helper()

	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	if password, _ = u.User.Password(); len(password) < 8 {
		t.Fatal("the database of the test has no password that could be found in a log")
	}
	return u, password
}

// follower reads the stream of t1 as a browser does, while the test goes on: when the stream ends or is refused, it
// comes back with its last id.
type follower struct {
	watcher

	returns int
	done    chan struct{}
}

// follow starts a follower, which ends when it has seen that a run has completed. Began is closed after a few items.
func follow(t *testing.T, p *process) (f *follower, began chan struct{}) {
	t.Helper()

	f, began = &follower{done: make(chan struct{})}, make(chan struct{})
	some, told := items(4), false
	go func() {
		defer close(f.done)
		for !f.watch(t, p, func(frame wire.Frame) bool {
			if !told && some(frame) {
				told = true
				close(began)
			}
			return hasCompleted(frame)
		}) {
			f.returns++
			<-time.After(200 * time.Millisecond) // as a browser waits before it comes back
		}
	}()
	return f, began
}

// plugged waits until a process is ready again.
func plugged(t *testing.T, p *process) {
	t.Helper()

	ctx := testwait.Context(t, "the process to be ready again")
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		got, err := p.request(ctx, http.MethodGet, "/readyz", "")
		if err == nil && got.status == http.StatusOK {
			return
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			t.Fatalf("it is not ready again: %s, %v", got.body, err)
		}
	}
}

// recovered checks that the run that was under way completes, that its follower misses nothing, and that new runs
// are served.
func recovered(t *testing.T, p *process, f *follower, database string) {
	t.Helper()

	testwait.For(t, f.done, "the end of the run that was under way")
	gapless(t, f.frames)
	completed(t, p)
	p.post(t, "/api/agent/run", `{"threadId":"t9","runId":"r9","prompt":"hello"}`)
	ctx := testwait.Context(t, "a new run")
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for p.stateOf(t, "t9") != wire.Completed && ctx.Err() == nil {
		<-every.C
	}
	if _, password := parsed(t, database); strings.Contains(p.stderr.String(), password) ||
		strings.Contains(p.stderr.String(), "postgres://spool:") {
		t.Error("the log has the password, or the URL with its user")
	}
}

// While PostgreSQL is gone, requests are refused with 503 and the time to come back. When it is back, everything works
// without a restart: the run that was under way completes, and its follower misses nothing.
func TestUnplugged(t *testing.T) {
	t.Parallel()

	server := pgtest.Start(t, pgtest.Options{})
	database := server.Database(t, nil)
	p := startWith(t, []string{"SPOOL_DATABASE=" + database}, t.TempDir())
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"slow 40"}`)
	f, began := follow(t, p)
	testwait.For(t, began, "the first items")
	server.Stop(t)
	unplugged(t, p, database, 10*time.Second)
	server.Restart(t)
	plugged(t, p)
	recovered(t, p, f, database)
}

// A PostgreSQL that hangs, with its connections open, is like one that is gone: no request waits for it for more than
// twice the timeout.
func TestUnpluggedHangs(t *testing.T) {
	t.Parallel()

	const timeout = 2 * time.Second
	server := pgtest.Start(t, pgtest.Options{})
	database := server.Database(t, nil)
	p := startWith(t, []string{"SPOOL_DATABASE=" + database, "SPOOL_DATABASE_TIMEOUT=" + timeout.String()}, t.TempDir())
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"slow 40"}`)
	f, began := follow(t, p)
	testwait.For(t, began, "the first items")
	server.Pause(t)
	unplugged(t, p, database, 2*timeout+time.Second)
	server.Resume(t)
	plugged(t, p)
	recovered(t, p, f, database)
}

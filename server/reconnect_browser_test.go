package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// browserCode returns the code of the page about tenants by which a browser follows a thread.
func browserCode(t *testing.T) string {
	t.Helper()

	page, err := os.ReadFile("../docs/guides/tenants.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Streams in a browser\n")
	_, rest, _ = strings.Cut(rest, "```js\n")
	code, _, ok := strings.Cut(rest, "```")
	if !ok || !strings.Contains(code, "function follow(") {
		t.Fatalf("the page has no code for browsers: %q", code)
	}
	return code
}

// pageAround is a page with that code, which reports what it shows.
const pageAround = `<!DOCTYPE html><title>t</title><script type="module">
let credentials = "those-of-yesterday", count = 0
const report = (what) => fetch("/report", {method: "POST", body: JSON.stringify({n: count++, ...what})})
async function signIn() { report({signedIn: true}); return (await fetch("/credentials")).text() }
CODE
follow("t1", {show: (frame) => report({frame}), ended: (status) => report({ended: status}), silence: 1000})
</script>`

// reported is what the page says of itself.
type reported struct {
	N        int
	Frame    *wire.Frame
	SignedIn bool
	Ended    int
}

// front is a proxy before a server that comes and goes.
type front struct {
	*httptest.Server

	upstream    atomic.Pointer[url.URL] // nil: the server is down
	refused     atomic.Int64            // how often a 502 was answered
	streams     atomic.Int64            // how many streams were opened
	keepalives  atomic.Int64            // how many were passed on
	credentials atomic.Pointer[string]
	reports     chan reported

	mu   sync.Mutex
	hole chan struct{} // closed when those connections that are open now are to say nothing more
}

func newFront(t *testing.T) *front {
	t.Helper()

	f := &front{reports: make(chan reported, 1000), hole: make(chan struct{})}
	code := browserCode(t)
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(f.upstream.Load()) },
		ModifyResponse: func(r *http.Response) error {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				f.streams.Add(1)
				f.mu.Lock()
				defer f.mu.Unlock()
				r.Body = &holedBody{r.Body, f, f.hole, r.Request.Context()}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Replace(pageAround, "CODE", code, 1))
	})
	mux.HandleFunc("GET /credentials", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, *f.credentials.Load())
	})
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		var what reported
		if err := json.NewDecoder(r.Body).Decode(&what); err != nil {
			t.Errorf("a report: %v", err)
		}
		f.reports <- what
	})
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		if f.upstream.Load() == nil {
			f.refused.Add(1)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	})
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

// swallow has the connections that are open say nothing more, and leaves them open.
func (f *front) swallow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.hole)
	f.hole = make(chan struct{})
}

// holedBody is the body of a stream, until it falls into the hole.
type holedBody struct {
	io.ReadCloser

	front *front
	hole  <-chan struct{}
	ctx   context.Context
}

// Read implements [io.Reader].
func (b *holedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	select {
	case <-b.hole:
		<-b.ctx.Done() // the other end has given up
		return 0, b.ctx.Err()
	default:
	}
	b.front.keepalives.Add(int64(bytes.Count(p[:n], []byte("event: keepalive"))))
	return n, err
}

// life is one life of a server over a backend that outlives it.
type life struct {
	engine *engine.Engine
	auth   *access.TokenList
	url    *url.URL
	stop   func()
}

func newLife(t *testing.T, b store.Backend, token string) *life {
	t.Helper()

	b.Live = nil // it goes with the process
	e, err := engine.New(b, engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Stream: option.Stream{FlushEvery: -1, Keepalive: 50 * time.Millisecond},
		Worker: option.Worker{Poll: 50 * time.Millisecond},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{SlowDelay: 20 * time.Millisecond})},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &life{engine: e}
	if l.auth, err = access.Tokens(nil); err != nil {
		t.Fatal(err)
	}
	l.allow(t, token)
	s, err := server.New(e, server.Config{Authenticator: l.auth})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	if l.url, err = url.Parse(listening.URL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	l.stop = sync.OnceFunc(func() {
		cancel()
		if err := receive(t, "the worker ends", worked); err != nil {
			t.Errorf("work: %v", err)
		}
		e.Close()
		listening.CloseClientConnections()
		listening.Close()
		_ = s.Close()
	})
	t.Cleanup(l.stop)
	return l
}

// allow has the server know one token and no other.
func (l *life) allow(t *testing.T, token string) {
	t.Helper()
	principal := access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}
	if err := l.auth.Replace([]access.Token{{Token: token, Principal: principal}}); err != nil {
		t.Fatal(err)
	}
}

// reader is what a page has read, in the order in which it was shown.
type reader struct {
	t     *testing.T
	front *front
	early map[int]reported
	next  int
	seq   int64
	at    wire.Cursor
	notes []string
	signs int
	state wire.State
}

// until reads on until a condition holds.
func (r *reader) until(what string, done func() bool) {
	r.t.Helper()
	for limit := time.After(patience); !done(); {
		select {
		case report := <-r.front.reports:
			r.early[report.N] = report
		case <-time.After(20 * time.Millisecond): // done may be about the proxy
		case <-limit:
			r.t.Fatalf("waited for %s: behind %d reports the page is at seq %d, %v, %s, signed in %d times", what, r.next, r.seq,
				r.at, r.state, r.signs)
		}
		for report, ok := r.early[r.next]; ok; report, ok = r.early[r.next] {
			delete(r.early, r.next)
			r.next++
			r.take(report)
		}
	}
}

// take checks that a frame comes after those before it, without a gap or a repeat.
func (r *reader) take(report reported) {
	r.t.Helper()
	switch f := report.Frame; {
	case report.SignedIn:
		r.signs++
	case f == nil:
		r.t.Fatalf("the page follows no more: %d", report.Ended)
	case f.Kind == wire.FrameSnapshot:
		if c := f.Snapshot.Cursor(); c.Seq < r.seq {
			r.t.Errorf("a snapshot at seq %d behind %d", c.Seq, r.seq)
		} else {
			r.seq, r.at = c.Seq, c
		}
	case f.Kind == wire.FrameStream:
		if f.StreamID == r.at.Stream && f.Item.Offset.Compare(r.at.Offset) <= 0 {
			r.t.Errorf("item %v of %s behind %v", f.Item.Offset, f.StreamID, r.at.Offset)
		}
		r.at.Stream, r.at.Offset = f.StreamID, f.Item.Offset
	case f.Event.Seq > 0:
		if f.Event.Seq != r.seq+1 {
			r.t.Errorf("entry %d behind %d", f.Event.Seq, r.seq)
		}
		r.seq = f.Event.Seq
		if f.Event.Type == "note" {
			r.notes = append(r.notes, string(f.Event.Payload))
		}
	case f.Event.Type == wire.NoticeStateChange:
		var change wire.StateChange
		if err := json.Unmarshal(f.Event.Payload, &change); err != nil {
			r.t.Error(err)
		}
		r.state = change.State
	}
}

// chromium opens a page in a headless browser until the test ends.
func chromium(t *testing.T, address string) {
	t.Helper()

	name := os.Getenv("CHROMIUM")
	if name == "" {
		name = "chromium"
	}
	binary, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("SPOOL_TEST_REQUIRE") == "1":
		t.Fatal("Chromium is missing and SPOOL_TEST_REQUIRE is 1: run test/services/install.sh")
	default:
		t.Skip("Chromium is not installed: test/services/install.sh says how")
	}
	profile, err := os.MkdirTemp("", "spool-browser-") //nolint:usetesting // the browser may write to it until it is killed
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(context.Background(), binary, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--remote-debugging-port=0",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--user-data-dir="+profile, address)
	cmd.Stdout, cmd.Stderr = &said, &said
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killGroup(cmd)
		var exited *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exited) {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the browser said: %s", &said)
		}
		_ = os.RemoveAll(profile)
	})
}

// The code of the docs, in a browser: it shows each frame once, behind a proxy that answers 502
// while the server restarts, over a connection that dies without a word, and when its credentials
// end. An idle stream is left alone.
func TestBrowserReconnects(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	first, second := "the-first-token-of-anna", "the-second-token-of-anna"
	backend := memory.New(nil)
	key := spool.ThreadKey{Tenant: "a", ID: "t1"}
	f := newFront(t)
	f.credentials.Store(&first)
	one := newLife(t, backend, first)
	f.upstream.Store(one.url)
	start := func(id spool.RunID, prompt string) {
		t.Helper()
		if r, err := one.engine.Run(
			t.Context(), key, wire.StartRequest{RunID: id, Prompt: prompt, WhenBusy: spool.BusyEnqueue},
		); err != nil || !r.Accepted {
			t.Fatal(r, err)
		}
	}
	publish := func(l *life, text string) {
		t.Helper()
		if _, err := l.engine.PublishEvent(
			t.Context(), key, "note", json.RawMessage(text), wire.PublishOptions{Durable: true},
		); err != nil {
			t.Fatal(err)
		}
	}
	start("r0", "hello") // it makes the thread; a browser may take longer to open than any run
	chromium(t, f.URL+"/")
	r := &reader{t: t, front: f, early: map[int]reported{}}
	r.until("the page", func() bool { return r.signs == 1 && r.seq > 0 })
	start("r1", "slow 100")
	publish(one, "1")
	r.until("the middle of the run", func() bool { return r.at.Stream == "r1:1" && len(r.notes) == 1 })

	// The server restarts in the middle of a run. Meanwhile the proxy answers 502, several times.
	f.upstream.Store(nil)
	one.stop()
	r.until("502s", func() bool { return f.refused.Load() >= 2 })
	two := newLife(t, backend, first)
	f.upstream.Store(two.url)
	r.until("the next segment", func() bool { return r.at.Stream == "r1:2" })
	publish(two, "2")
	r.until("what was said in it", func() bool { return len(r.notes) == 2 })

	// The connection dies without a word. What was said meanwhile comes once.
	opened := f.streams.Load()
	f.swallow()
	publish(two, "3")
	r.until("another connection", func() bool { return f.streams.Load() > opened })
	publish(two, "4")
	r.until("the end of the run", func() bool { return r.state == wire.Completed && len(r.notes) == 4 })

	// An idle stream is kept alive for far longer than a dead one is waited for.
	opened, kept := f.streams.Load(), f.keepalives.Load()
	r.until("keepalives", func() bool { return f.keepalives.Load() >= kept+50 })
	if now := f.streams.Load(); now != opened {
		t.Errorf("the page gave up a stream that was idle: %d streams, then %d", opened, now)
	}

	// The credentials end, and with them the stream. The page gets others.
	f.credentials.Store(&second)
	two.allow(t, second)
	f.swallow()
	publish(two, "5")
	r.until("what was said later", func() bool { return len(r.notes) == 5 })
	if r.signs != 2 {
		t.Errorf("the page has signed in %d times", r.signs)
	}
	if got := strings.Join(r.notes, " "); got != "1 2 3 4 5" {
		t.Errorf("the page has shown %s", got)
	}
	var last int64
	for entry, err := range two.engine.FollowRecord(t.Context(), key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if last = max(last, entry.Seq); entry.Type == "note" && string(entry.Payload) == "5" {
			break
		}
	}
	if r.seq != last {
		t.Errorf("the page is at seq %d of %d", r.seq, last)
	}
}

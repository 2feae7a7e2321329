package load_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/cmd/spool/internal/load"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// serve runs a server in memory with a quick demo model. Around may answer requests itself.
func serve(t *testing.T, around func(http.Handler) http.Handler) *client.Client {
	t.Helper()

	log := slog.New(slog.DiscardHandler)
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}}, Log: log,
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{Delay: time.Millisecond})},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(e, server.Config{Insecure: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	h := httptest.NewUnstartedServer(around(s))
	h.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	h.Start()
	t.Cleanup(func() {
		cancel()
		e.Close()
		h.CloseClientConnections()
		h.Close()
		if err := testwait.For(t, worked, "the end of the worker"); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(h.URL, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func plain(h http.Handler) http.Handler { return h }

// short is a load of a second and a half.
func short(c *client.Client) load.Config {
	return load.Config{
		Server: c, Session: "test", Ladder: []float64{20, 40}, Step: 750 * time.Millisecond, Drain: 20 * time.Second,
		InFlight: 500, MaxDuration: time.Minute, MaxP99: time.Minute,
		Prompt: "one two three four five six seven eight nine ten", Watchers: 2, Stops: 0.2, Resumes: 0.5,
	}
}

// A load of a real server reports what the server has, sees each frame once, and leaves nothing behind.
func TestRealServer(t *testing.T) {
	t.Parallel()

	c := serve(t, plain)
	o := short(c)
	o.Keep = true
	r, err := load.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var runs, completed, stopped int
	for run, err := range c.Runs(t.Context(), client.RunFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		runs++
		switch run.State {
		case wire.Completed:
			completed++
		case wire.Cancelled:
			stopped++
		}
	}
	var threads int
	for _, err := range c.Threads(t.Context(), client.ThreadFilter{Labels: map[string]string{"spool-load": "test"}}) {
		if err != nil {
			t.Fatal(err)
		}
		threads++
	}
	var ended, halted, accepted int
	for _, g := range r.Rungs {
		ended, halted, accepted = ended+g.Ended, halted+g.Stopped, accepted+g.Accepted
		if len(g.Errors) > 0 || g.Unfinished > 0 || int(g.Start.Count) != g.Accepted ||
			int(g.WholeRun.Count) != g.Ended-g.Stopped {
			t.Errorf("errors %v, unfinished %d, starts %d of %d, whole runs %d of %d", g.Errors, g.Unfinished, g.Start.Count,
				g.Accepted, g.WholeRun.Count, g.Ended-g.Stopped)
		}
		if w := g.Watchers; w.Frames < int64(2*10*g.Ended) || w.Resumed == 0 || w.Most < 2 || w.TextsChecked == 0 {
			t.Errorf("watchers %+v", w)
		}
	}
	if runs != accepted || threads != accepted || accepted != r.Threads.Made || accepted < 15 ||
		completed != ended-halted || stopped != halted {
		t.Errorf("the server has %d runs (%d completed, %d stopped) and %d threads; the report has %d (%d ended, %d of them stopped) and %+v",
			runs, completed, stopped, threads, accepted, ended, halted, r.Threads)
	}
	if r.Faults() != 0 || r.Threads.Deleted != 0 {
		t.Errorf("%d faults, threads %+v", r.Faults(), r.Threads)
	}
	files(t, r)

	o.Session, o.Keep, o.Ladder = "again", false, []float64{20}
	if r, err = load.Run(t.Context(), o); err != nil || r.Threads.Made != 15 || r.Threads.Deleted != 15 {
		t.Fatalf("%v, threads %+v", err, r.Threads)
	}
	for thread, err := range c.Threads(
		t.Context(), client.ThreadFilter{Labels: map[string]string{"spool-load": "again"}},
	) {
		t.Errorf("the thread %s is left, %v", thread.ID, err)
	}
}

// files checks the files of a report.
func files(t *testing.T, r *load.Report) {
	t.Helper()

	path := filepath.Join(t.TempDir(), "report")
	if err := r.WriteJSON(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var read load.Report
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	for i := range read.Rungs {
		l := read.Rungs[i].FirstToken
		h, err := hdrhistogram.Decode([]byte(l.Histogram))
		if err != nil || h.TotalCount() != l.Count || l.Count == 0 || float64(h.ValueAtPercentile(99))/1e3 != l.P99 {
			t.Errorf("%v: the histogram does not say the same as %+v", err, l)
		}
	}
	for range 2 { // with all rates, and with one
		if err := r.WriteSVG(path); err != nil {
			t.Fatal(err)
		}
		if text, err = os.ReadFile(path); err != nil || strings.Count(string(text), "<circle") < 10*len(r.Rungs) {
			t.Errorf("%v, %s", err, text)
		}
		r.Rungs = r.Rungs[:1]
	}
}

// Refusals of a server, and of a proxy before it, are reported by status and code.
func TestRefusalsOverHTTP(t *testing.T) {
	t.Parallel()

	var starts atomic.Int64
	c := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/agent/run" {
				h.ServeHTTP(w, r)
				return
			}
			switch starts.Add(1) % 3 {
			case 0:
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, `{"error":"too many starts","code":"limit"}`)
			case 1:
				http.Error(w, "<html>no upstream</html>", http.StatusServiceUnavailable)
			default:
				h.ServeHTTP(w, r)
			}
		})
	})
	o := short(c)
	o.Ladder = []float64{40}
	r, err := load.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	g := r.Rungs[0]
	if g.Errors["start: 429 limit"] != 10 || g.Errors["start: 503 unavailable"] != 10 || len(g.Errors) != 2 ||
		g.Accepted != 10 || g.Ended != 10 {
		t.Errorf("accepted %d, ended %d, errors %v", g.Accepted, g.Ended, g.Errors)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "10  start: 429 limit") ||
		!strings.Contains(r.Saturation, "20 of 30 runs failed") {
		t.Errorf("%v, saturation %q:\n%s", err, r.Saturation, &b)
	}
}

// Nothing is loaded where no server is.
func TestNoServer(t *testing.T) {
	t.Parallel()

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(address, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := load.Run(t.Context(), short(c)); spool.CodeOf(err) != spool.Unavailable || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}

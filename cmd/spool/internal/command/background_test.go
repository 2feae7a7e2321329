package command

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// background is a server with background answers, which go on when the test lets them.
type background struct {
	*fake.Server

	config  string
	release chan struct{}
}

// newBackground starts a server. Its answers stop before their second piece of text until release is closed.
func newBackground(t *testing.T) *background {
	t.Helper()

	b := &background{release: make(chan struct{})}
	b.Server = fake.New(func(*fake.Request) fake.Answer {
		return fake.Answer{
			Items: []fake.Item{fake.Reason("A thought."), fake.Text("One, ", "two, ", "three.")},
			Usage: &fake.Usage{Input: 100, Output: 20, Reasoning: 8},
			Hold: func(n int) {
				if n == 12 {
					<-b.release
				}
			},
		}
	})
	peer := httptest.NewServer(b.Server)
	t.Cleanup(peer.Close)
	t.Cleanup(peer.CloseClientConnections)
	b.config = writeConfig(t, `models: {m: {provider: responses, base_url: "`+
		peer.URL+`/v1", model: gpt-5.2, background: true}}
agents: {assistant: {model: m}}
limits: {lease: 2s}
`)
	return b
}

// begin starts a run in a new process and waits until a client has seen the first piece of its answer.
func (b *background) begin(t *testing.T, data string) *process {
	t.Helper()

	p := start(t, data, "--config", b.config)
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"Count."}`)
	var w watcher
	w.watch(t, p, func(f wire.Frame) bool { return f.Item != nil && strings.Contains(string(f.Item.Data), "One, ") })
	return p
}

// count returns how many requests had a method and a word in their path or query.
func (b *background) count(method, word string) int {
	n := 0
	for _, r := range b.Requests() {
		if r.Method == method && strings.Contains(r.Path+"?"+r.Query, word) {
			n++
		}
	}
	return n
}

// ledger returns the rows of the run's ledger when the run has completed.
func ledger(t *testing.T, p *process) []json.RawMessage {
	t.Helper()

	if run := p.get(t, "/api/agent/runs/r1?wait=60s"); !strings.Contains(run, `"state":"COMPLETED"`) {
		t.Fatalf("the run is %s", run)
	}
	var detail struct {
		Usage []json.RawMessage `json:"usage"`
	}
	if err := json.Unmarshal([]byte(p.get(t, "/api/admin/runs/r1")), &detail); err != nil {
		t.Fatal(err)
	}
	return detail.Usage
}

// A process is killed in the middle of a background answer. The next one comes back to it: the model is asked
// once, and the answer is paid for once.
func TestBackgroundTakeover(t *testing.T) {
	t.Parallel()

	b := newBackground(t)
	data := t.TempDir()
	b.begin(t, data).signal(t, syscall.SIGKILL)
	next := start(t, data, "--config", b.config)
	wait(t, "the next process to come back to the answer", func() bool { return b.count("GET", "stream=true") == 1 })
	close(b.release)
	if rows := ledger(t, next); len(rows) != 1 || !strings.Contains(string(rows[0]), `"inputTokens":100,`) {
		t.Errorf("the ledger has %s", rows)
	}
	if b.Posts() != 1 || b.count("POST", "/cancel") != 0 {
		t.Errorf("%d answers were paid for", b.Posts())
	}
	if history := next.get(t, "/api/agent/history?threadId=t1"); !strings.Contains(history, "One, two, three.") {
		t.Errorf("the thread is %s", history)
	}
}

// The provider no longer has the answer: the model is asked again, and the ledger has both attempts.
func TestBackgroundGone(t *testing.T) {
	t.Parallel()

	b := newBackground(t)
	data := t.TempDir()
	b.begin(t, data).signal(t, syscall.SIGKILL)
	b.Delete(b.Stored()[0])
	close(b.release)
	if rows := ledger(t, start(t, data, "--config", b.config)); len(rows) != 2 {
		t.Errorf("the ledger has %s", rows)
	}
	if b.Posts() != 2 {
		t.Errorf("%d answers were paid for", b.Posts())
	}
}

// A stop cancels the answer. A shutdown leaves it to the next process.
func TestBackgroundStop(t *testing.T) {
	t.Parallel()

	b := newBackground(t)
	data := t.TempDir()
	b.begin(t, data).signal(t, syscall.SIGTERM)
	if b.count("POST", "/cancel") != 0 {
		t.Error("a shutdown cancels the answer")
	}
	next := start(t, data, "--config", b.config)
	wait(t, "the next process to come back to the answer", func() bool { return b.count("GET", "stream=true") == 1 })
	next.post(t, "/api/agent/control", `{"threadId":"t1"}`)
	wait(t, "the answer to be cancelled", func() bool {
		return slices.ContainsFunc(b.Stored(), b.Cancelled)
	})
	if b.Posts() != 1 {
		t.Errorf("%d answers were paid for", b.Posts())
	}
	close(b.release)
}

// wait waits until a condition holds.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()

	ctx := testwait.Context(t, what)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}
}

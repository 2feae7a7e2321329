package agui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// patience is how long a condition may take to come true.
const patience = 20 * time.Second

// bundle is a server whose model and tools let the test look around at each of their
// steps.
type bundle struct {
	engine *engine.Engine
	url    string

	mu   sync.Mutex
	held func() // called after each event of the model, and within tools
}

var key = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}

func setup(t *testing.T, model spool.Model) *bundle {
	t.Helper()
	return setupServer(t, model, server.Config{})
}

// setupServer is setup with a configuration of the server's, for everybody.
func setupServer(t *testing.T, model spool.Model, c server.Config) *bundle {
	t.Helper()

	b := &bundle{}
	lookup := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "lookup"},
		Call: func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
			b.hold()
			return c.Args, nil
		},
	}
	send := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "send"}, Approval: spool.AlwaysApprove,
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			b.hold()
			return json.RawMessage(`"sent"`), nil
		},
	}
	urgent := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "urgent"}, Approval: spool.AlwaysApprove, Call: send.Call,
		Expiry: spool.Expiry{Then: spool.ExpireFail, TTL: 500 * time.Millisecond, Warn: -1},
	}
	wait := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "wait"},
		Call: func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
			if c.Answer == nil {
				return nil, spool.ParkFor("delivery", map[string]string{"order": "7"}, 0)
			}
			return c.Answer.Payload, nil
		},
	}
	var err error
	b.engine, err = engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Tools: []spool.Tool{lookup, send, urgent, wait},
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"mailer": {Tools: []spool.Tool{lookup, send}}}},
		}},
		Models: map[string]spool.Model{"m": heldModel{model, b.hold}},
		Stream: option.Stream{FlushEvery: -1},
		Worker: option.Worker{Poll: 20 * time.Millisecond},
		Retry:  option.Retry{Backoff: time.Millisecond},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Insecure, c.Log = true, slog.New(slog.DiscardHandler)
	s, err := server.New(b.engine, c)
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	b.url = listening.URL
	t.Cleanup(func() {
		b.engine.Close()
		listening.Close()
		_ = s.Close()
	})
	return b
}

// longest bounds a stream, which may be there for a whole test, and a client's process.
const longest = 5 * time.Minute

var errImpatient = errors.New("it did not end within " + longest.String())

// patiently returns a context for a process, or for a request and all that is read of its answer.
// It goes on to the last cleanup of the test.
func patiently(t *testing.T) context.Context {
	t.Helper()

	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(t.Context()), longest, errImpatient)
	t.Cleanup(cancel)
	return ctx
}

// work has a worker execute runs until the test ends.
func (b *bundle) work(t *testing.T) {
	t.Helper()

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.engine.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the worker does not end")
		}
	})
}

func (b *bundle) hold() {
	b.mu.Lock()
	held := b.held
	b.mu.Unlock()
	if held != nil {
		held()
	}
}

func (b *bundle) onHold(held func()) {
	b.mu.Lock()
	b.held = held
	b.mu.Unlock()
}

// heldModel is a model that lets the test look around after each of its events.
type heldModel struct {
	spool.Model

	hold func()
}

func (m heldModel) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		m.hold()
		for event, err := range m.Model.Stream(ctx, r) {
			if !yield(event, err) {
				return
			}
			m.hold()
		}
	}
}

// connection is an open stream in AG-UI.
type connection struct {
	// have is the id that the client came with.
	have string

	mu   sync.Mutex
	body strings.Builder
	id   string
	over chan struct{}
}

// connect opens a stream. When it returns, the server has looked at the thread.
func (b *bundle) connect(t *testing.T, have string) *connection {
	t.Helper()

	r, err := http.NewRequestWithContext(patiently(t), http.MethodGet,
		b.url+"/api/agent/stream?wireFormat=ag-ui&threadId=t", http.NoBody)
	if err != nil {
		t.Error(err)
		return nil
	}
	if have != "" {
		r.Header.Set("Last-Event-ID", have)
	}
	res, err := http.DefaultTransport.RoundTrip(r) //nolint:bodyclose // the goroutine that reads it does
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("connect: %v %v", res, err)
		return nil
	}
	c := &connection{have: have, over: make(chan struct{})}
	go func() {
		defer close(c.over)
		defer res.Body.Close()
		in := bufio.NewReader(res.Body)
		for {
			line, err := in.ReadString('\n')
			c.read(line)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("read a stream: %v", err)
				}
				return
			}
		}
	}()
	return c
}

func (c *connection) read(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body.WriteString(line)
	if id, ok := strings.CutPrefix(line, "id: "); ok {
		c.id = strings.TrimSpace(id)
	}
}

// text returns what has come so far, without the server's word on coming back.
func (c *connection) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body.String()
}

// ended reports whether the last event that ends a run is of a type, and no interrupt.
func (c *connection) ended(kind string) bool {
	text := c.text()
	at := max(strings.LastIndex(text, `"type":"RUN_FINISHED"`), strings.LastIndex(text, `"type":"RUN_ERROR"`))
	return at >= 0 && strings.HasPrefix(text[at:], `"type":"`+kind+`"`) &&
		!strings.Contains(text[at:], `"outcome":{"type":"interrupt"`)
}

// last returns the last id that has come, or the one that the client came with.
func (c *connection) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id == "" {
		return c.have
	}
	return c.id
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()

	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("it did not come: %s", what)
		case <-tick.C:
		}
	}
}

// reaches waits until the thread's run is in a state.
func (b *bundle) reaches(t *testing.T, state wire.State) *wire.Snapshot {
	t.Helper()

	var s *wire.Snapshot
	until(t, string(state), func() bool {
		var err error
		if s, err = b.engine.Snapshot(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
		return s.Thread.State == state
	})
	return s
}

// caughtUp waits until the connection has read the record to its end.
func (b *bundle) caughtUp(t *testing.T, c *connection) {
	t.Helper()

	s, err := b.engine.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the record on a connection", func() bool {
		at, ok := wire.ParseCursor(c.last())
		return ok && at.Seq >= s.LastEventSeq
	})
}

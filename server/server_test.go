package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/wire"
)

// bundle is a server over an engine, with a worker.
type bundle struct {
	engine  *engine.Engine
	server  *server.Server
	backend store.Backend
	clock   *holdClock // the backend's
	url     string
	logged  *syncWriter
}

// holdClock is the clock of the machine, until it is held.
type holdClock struct{ at atomic.Pointer[time.Time] }

// Now implements [store.Clock].
func (c *holdClock) Now() time.Time {
	if at := c.at.Load(); at != nil {
		return *at
	}
	return time.Now()
}

// hold has the clock stand still. What is asked before and after something is the same then,
// however long it took.
func (c *holdClock) hold() {
	now := time.Now()
	c.at.Store(&now)
}

// The tokens of the bundle's two tenants.
const (
	tokenA    = "token-of-a"
	tokenB    = "token-of-b"
	readOnlyA = "read-only-token-of-a"
	secondA   = "second-token-of-a"
	namelessA = "nameless-token-of-a"
)

func twoTenants(t *testing.T) access.Authenticator {
	t.Helper()

	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{Token: tokenB, Principal: access.Principal{Tenant: "b", Subject: "bert", Scopes: access.AllScopes()}},
		{
			Token:     readOnlyA,
			Principal: access.Principal{Tenant: "a", Subject: "rita", Scopes: []access.Scope{access.ScopeRead}},
		},
		{Token: secondA, Principal: access.Principal{Tenant: "a", Subject: "alan", Scopes: access.AllScopes()}},
		{Token: namelessA, Principal: access.Principal{Tenant: "a", Scopes: access.AllScopes()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// setup serves with the given configuration, completed with the two tenants where it
// names no authenticator. Runs move only with work.
func setup(t *testing.T, c server.Config) *bundle {
	t.Helper()
	return setupOver(t, c, engine.Config{})
}

// setupOver is setup with bounds of the engine's.
func setupOver(t *testing.T, c server.Config, bounds engine.Config) *bundle {
	t.Helper()

	clock := &holdClock{}
	b := &bundle{backend: memory.New(&memory.Options{Clock: clock}), clock: clock, logged: &syncWriter{}}
	log := slog.New(slog.NewTextHandler(b.logged, nil))
	models := bounds.Models
	if models == nil {
		models = map[string]spool.Model{"demo": demo.New(demo.Config{SlowDelay: 10 * time.Millisecond})}
	}
	artifacts := bounds.Artifacts
	if artifacts == nil {
		artifacts = &spooltest.Artifacts{}
	}
	var err error
	b.engine, err = engine.New(b.backend, engine.Config{
		Agents: []spool.Agent{
			{Name: "assistant", Model: "demo", Tools: []spool.Tool{sendTool()}},
			{Name: "strict", Model: "demo", Tools: []spool.Tool{sendTool()}, DistinctApprover: true},
		},
		Models: models,
		Stream: option.Stream{FlushEvery: -1},
		Limits: option.Limits{
			PromptBytes: 1000, QueueDepth: bounds.Limits.QueueDepth, TenantBytes: bounds.Limits.TenantBytes,
		},
		WhenBusy: bounds.WhenBusy, Artifacts: artifacts, Webhooks: bounds.Webhooks, Schedules: bounds.Schedules,
		Worker: option.Worker{Poll: 50 * time.Millisecond},
		// ParkTTL is less than a link may last
		ParkTTL: 15 * time.Minute, StrictProviderOptions: bounds.StrictProviderOptions,
		Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Authenticator == nil && !c.Insecure {
		c.Authenticator = twoTenants(t)
	}
	c.Log, c.NoStreamTakeover = log, c.NoStreamTakeover || strings.HasPrefix(t.Name(), "TestStreamsInHandlers/")
	if b.server, err = server.New(b.engine, c); err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(b.server)
	b.url = listening.URL
	t.Cleanup(func() {
		within(t, "the server closes", func() {
			b.engine.Close()
			listening.Close()
			if err := b.server.Close(); err != nil {
				t.Error(err)
			}
		})
	})
	return b
}

// work has a worker execute runs until the test ends.
func (b *bundle) work(t *testing.T) {
	t.Helper()

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.engine.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() {
		cancel()
		if err := receive(t, "the worker ends", done); err != nil {
			t.Errorf("work: %v", err)
		}
	})
}

func sendTool() spool.Tool {
	type in struct {
		To string `json:"to"`
	}
	send := tool.New("send", "Sends nothing.",
		func(_ context.Context, in in) (string, error) { return "sent to " + in.To, nil })
	send.Approval = spool.AlwaysApprove
	return send
}

// call is a request of a test.
type call struct {
	method, path, body string
	token              string
	header             map[string]string
}

// answer is what a call was answered with.
type answer struct {
	status int
	header http.Header
	body   string
}

func (b *bundle) request(t *testing.T, c call) *http.Request {
	t.Helper()

	var body io.Reader = http.NoBody
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	r, err := http.NewRequestWithContext(patiently(t), c.method, b.url+c.path, body)
	if err != nil {
		t.Fatal(err)
	}
	if c.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for k, v := range c.header {
		if k == "Host" {
			r.Host = v
			continue
		}
		r.Header.Set(k, v)
	}
	return r
}

// do makes a call and reads the whole answer.
func (b *bundle) do(t *testing.T, c call) answer {
	t.Helper()

	res, err := http.DefaultTransport.RoundTrip(b.request(t, c))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, strings.TrimSpace(string(text))}
}

// as calls for tenant a unless the call says otherwise.
func (b *bundle) as(t *testing.T, token, method, path, body string) answer {
	t.Helper()
	return b.do(t, call{method: method, path: path, body: body, token: token})
}

// message is one SSE message.
type message struct {
	id    string
	frame wire.Frame
	raw   string
}

// events is an open stream.
type events struct {
	response *http.Response
	scanner  *bufio.Scanner
}

func (b *bundle) stream(t *testing.T, c call) *events {
	t.Helper()

	c.method = http.MethodGet
	res, err := http.DefaultTransport.RoundTrip(b.request(t, c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("stream: status %d", res.StatusCode)
	}
	scanner := bufio.NewScanner(res.Body)
	scanner.Buffer(nil, 1<<20)
	return &events{res, scanner}
}

// next returns the next message with data. It reports false at the end of the body.
func (e *events) next(t *testing.T) (message, bool) {
	t.Helper()

	var m message
	for e.scanner.Scan() {
		line := e.scanner.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			m.id = strings.TrimPrefix(line, "id: ")
		case strings.HasPrefix(line, "data: "):
			m.raw = strings.TrimPrefix(line, "data: ")
			if err := json.Unmarshal([]byte(m.raw), &m.frame); err != nil {
				t.Fatalf("frame %s: %v", m.raw, err)
			}
		case line == "" && m.raw != "":
			return m, true
		}
	}
	if err := e.scanner.Err(); errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the stream neither ends nor brings what is waited for: %v", err)
	}
	return m, false
}

// until reads messages up to the first that is wanted.
func (e *events) until(t *testing.T, wanted func(message) bool) []message {
	t.Helper()

	var all []message
	for {
		m, ok := e.next(t)
		if !ok {
			t.Fatalf("the stream ended after %d messages: %v", len(all), e.scanner.Err())
		}
		if all = append(all, m); wanted(m) {
			return all
		}
	}
}

// entry matches a frame with an entry or notice of that type.
func entry(kind wire.EntryType) func(message) bool {
	return func(m message) bool { return m.frame.Event != nil && m.frame.Event.Type == kind }
}

// state matches a notice of that state.
func state(s wire.State) func(message) bool {
	return func(m message) bool {
		if !entry(wire.NoticeStateChange)(m) {
			return false
		}
		var change wire.StateChange
		return json.Unmarshal(m.frame.Event.Payload, &change) == nil && change.State == s
	}
}

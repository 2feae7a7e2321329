package client_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/wire"
)

const goodToken = "token-of-ann"

// node is a process of a server: an engine with a worker, and its HTTP surface on a real socket.
type node struct {
	engine  *engine.Engine
	surface *server.Server
	http    *http.Server
	address string
	cancel  context.CancelFunc
	worked  chan error
}

func sendTool() spool.Tool {
	type in struct {
		To string `json:"to"`
	}
	send := tool.New("send", "Sends nothing.",
		func(_ context.Context, in in) (string, error) { return "sent to " + in.To, nil })
	send.Approval = spool.AlwaysApprove
	send.Idempotent = true
	return send
}

func lookTool() spool.Tool {
	type in struct {
		At string `json:"at"`
	}
	return tool.New("look", "Looks.", func(_ context.Context, in in) (string, error) { return "saw " + in.At, nil })
}

// startNode serves a backend at an address. "127.0.0.1:0" stands for a new one.
func startNode(
	t *testing.T, backend store.Backend, address string, change ...func(*engine.Config, *server.Config),
) *node {
	t.Helper()

	log := slog.New(slog.DiscardHandler)
	ec := engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo", Tools: []spool.Tool{sendTool(), lookTool()}}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{SlowDelay: 2 * time.Millisecond})},
		Stream: option.Stream{FlushEvery: -1, RetryHint: time.Millisecond},
		Worker: option.Worker{Poll: 20 * time.Millisecond},
		Log:    log, Artifacts: &spooltest.Artifacts{},
	}
	auth, err := access.Tokens([]access.Token{
		{Token: goodToken, Principal: access.Principal{Tenant: "acme", Subject: "ann", Scopes: access.AllScopes()}},
		{
			Token:     "reader",
			Principal: access.Principal{Tenant: "acme", Subject: "rita", Scopes: []access.Scope{access.ScopeRead}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	sc := server.Config{Authenticator: auth, Log: log}
	for _, fn := range change {
		fn(&ec, &sc)
	}
	n := &node{worked: make(chan error, 1)}
	if n.engine, err = engine.New(backend, ec); err != nil {
		t.Fatal(err)
	}
	if n.surface, err = server.New(n.engine, sc); err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	n.address = listener.Addr().String()
	n.http = &http.Server{
		Handler: n.surface, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() { _ = n.http.Serve(listener) }()
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	go func() { n.worked <- n.engine.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() { n.stop(t) })
	return n
}

// stop ends the process. It may be called more than once.
func (n *node) stop(t *testing.T) {
	t.Helper()

	if n.worked == nil {
		return
	}
	n.cancel()
	n.engine.Close()
	_ = n.http.Close()
	if err := testwait.For(t, n.worked, "the end of the worker"); err != nil {
		t.Errorf("work: %v", err)
	}
	n.worked = nil
	if err := n.surface.Close(); err != nil {
		t.Error(err)
	}
}

func (n *node) url() string { return "http://" + n.address }

// setup serves a backend in memory, and returns a client of it.
func setup(t *testing.T, change ...func(*engine.Config, *server.Config)) (*node, *client.Client) {
	t.Helper()

	n := startNode(t, memory.New(nil), "127.0.0.1:0", change...)
	return n, connect(t, n.url())
}

// connect returns a client that waits hardly at all between attempts.
func connect(t *testing.T, url string, change ...func(*client.Options)) *client.Client {
	t.Helper()

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	o := client.Options{
		Backoff:    client.Backoff{Min: time.Millisecond, Max: 20 * time.Millisecond},
		HTTPClient: &http.Client{Transport: transport},
		Token:      client.StaticToken(goodToken),
	}
	for _, fn := range change {
		fn(&o)
	}
	c, err := client.New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run starts a run and waits until it has ended or needs an answer.
func run(t *testing.T, c *client.Client, in client.RunRequest) wire.RunOutcome {
	t.Helper()

	ctx := testwait.Context(t, "the run of "+in.Prompt)
	result, err := c.Run(ctx, in)
	if err != nil || !result.Accepted {
		t.Fatalf("start: %+v, %v", result, err)
	}
	return await(t, c, result.RunID)
}

func await(t *testing.T, c *client.Client, id spool.RunID) wire.RunOutcome {
	t.Helper()

	o, err := c.Await(testwait.Context(t, "the end of run "+string(id)), id)
	if err != nil {
		t.Fatalf("await: %v", err)
	}
	return o
}

// must returns the value of a call that has to succeed.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()

		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantError checks the code and the status of an error.
func wantError(t *testing.T, err error, code spool.Code, status int) {
	t.Helper()

	if spool.CodeOf(err) != code || client.StatusOf(err) != status {
		t.Errorf("error %v with the code %q and the status %d, want %q and %d", err, spool.CodeOf(err), client.StatusOf(err),
			code, status)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		url     string
		options client.Options
	}{
		"no scheme":      {url: "localhost:8080"},
		"another scheme": {url: "ftp://localhost"},
		"no host":        {url: "http://"},
		"credentials":    {url: "http://ann:secret@localhost"},
		"a query":        {url: "http://localhost?x=1"},
		"negative wait":  {"http://localhost", client.Options{Backoff: client.Backoff{Min: -1}}},
		"max below min": {
			"http://localhost", client.Options{Backoff: client.Backoff{Min: time.Second, Max: time.Millisecond}},
		},
		"negative events": {"http://localhost", client.Options{MaxEventBytes: -1}},
	} {
		if _, err := client.New(c.url, c.options); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()

	n, c := setup(t)
	ctx := testwait.Context(t, "the answers")
	_, err := c.Snapshot(ctx, "nobody", wire.SnapshotOptions{})
	wantError(t, err, spool.NotFound, http.StatusNotFound)
	if e, ok := errors.AsType[*client.ResponseError](err); !ok || e.RequestID == "" ||
		spool.MessageOf(err) != "Thread not found" {
		t.Errorf("error %v", err)
	}
	_, err = c.Outcome(ctx, "nobody")
	wantError(t, err, spool.NotFound, http.StatusNotFound)
	_, err = c.Await(ctx, "nobody")
	wantError(t, err, spool.NotFound, http.StatusNotFound)
	_, err = c.Run(ctx, client.RunRequest{ThreadID: "not an id", Prompt: "Hello"})
	wantError(t, err, spool.Invalid, http.StatusBadRequest)

	reader := connect(t, n.url(), func(o *client.Options) { o.Token = client.StaticToken("reader") })
	_, err = reader.Run(ctx, client.RunRequest{Prompt: "Hello"})
	wantError(t, err, spool.Forbidden, http.StatusForbidden)
	stranger := connect(t, n.url(), func(o *client.Options) { o.Token = nil })
	_, err = stranger.Overview(ctx)
	wantError(t, err, spool.Unauthorized, http.StatusUnauthorized)
	if err := stranger.Ready(ctx); err != nil {
		t.Errorf("ready: %v", err)
	}

	gone := connect(t, n.url())
	n.stop(t)
	_, err = gone.Overview(ctx)
	wantError(t, err, spool.Unavailable, 0)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err = gone.Overview(canceled); spool.CodeOf(err) != spool.Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

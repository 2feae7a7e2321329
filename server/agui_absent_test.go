package server_test

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// lateModel is a model that takes its time before it begins.
type lateModel struct {
	spool.Model

	wait time.Duration
}

func (m lateModel) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		select {
		case <-time.After(m.wait):
			m.Model.Stream(ctx, r)(yield)
		case <-ctx.Done():
			yield(nil, ctx.Err())
		}
	}
}

// absent is a server whose AG-UI client has just gone.
type absent struct {
	*testing.T

	engine *engine.Engine
	server *server.Server
}

// pass lets time pass, and what it brings happen.
func (a absent) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// open sends a request of tokenA, and returns what closes its connection.
func (a absent) open(method, path, body string) (leave func()) {
	hangUp, done := a.send(tokenA, method, path, body)
	return func() {
		hangUp()
		<-done
		synctest.Wait()
	}
}

// send sends a request. It returns what closes its connection, and a channel that the end of the request closes.
func (a absent) send(token, method, path, body string) (leave func(), done <-chan struct{}) {
	ctx, cancel := context.WithCancel(a.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		send(ctx, a.server, token, method, path, body)
	}()
	a.pass(1500 * time.Millisecond) // not at the time of a question who follows the thread
	return cancel, over
}

func (a absent) state(run spool.RunID) wire.State {
	a.Helper()
	s, err := a.engine.Snapshot(a.Context(), spool.ThreadKey{Tenant: "a", ID: "t1"}, nil)
	if err != nil {
		a.Fatal(err)
	}
	for _, r := range s.Runs {
		if r.ID == run {
			return r.State
		}
	}
	return ""
}

// A run whose client has gone is stopped after a grace, unless somebody follows the thread or its post says
// otherwise.
func TestAGUIAbsent(t *testing.T) {
	t.Parallel()

	const (
		hour      = time.Hour
		writerA   = "may-not-stop"
		goesOn    = `,"forwardedProps":{"spool":{"onDisconnect":"continue"}}`
		asksFirst = `use send with {"to":"ann"}`
	)
	prompts := func(run, prompt, rest string) string { return page(run, asks(prompt)+rest) }
	for name, c := range map[string]struct {
		config server.Config
		works  time.Duration // how long the model does
		token  string
		body   string
		stays  time.Duration  // how long the client's connection is there when within begins
		within func(a absent) // what happens five seconds after the client has gone, or else before
		want   wire.State     // twelve seconds after the client has gone
	}{
		"Gone": {want: wire.Cancelled},
		"Short": {
			config: server.Config{DisconnectGrace: 2 * time.Second},
			within: func(a absent) { a.want("r1", wire.Cancelled) },
			want:   wire.Cancelled,
		},
		"Long":      {config: server.Config{DisconnectGrace: hour}, want: wire.Running},
		"Off":       {config: server.Config{DisconnectGrace: -1}, want: wire.Running},
		"Continues": {body: prompts("r1", "hello", goesOn), want: wire.Running},
		"NoScope":   {token: writerA, want: wire.Running},
		"Over":      {works: 4 * time.Second, want: wire.Completed},
		"Waits":     {works: 4 * time.Second, body: prompts("r1", asksFirst, ""), want: wire.WaitingForInput},
		"Shutdown":  {within: func(a absent) { a.server.Drain() }, want: wire.Running},
		"Follows": {within: func(a absent) {
			a.open(http.MethodGet, streamPath+"?threadId=t1", "")
		}, want: wire.Running},
		"Reloaded": {within: func(a absent) {
			a.open(http.MethodPost, connectPath, page("c1", `"messages":[]`))()
		}, want: wire.Running},
		"AsksAgain": {within: func(a absent) {
			a.open(http.MethodPost, aguiPath, prompts("r1", "hello", ""))
		}, want: wire.Running},
		"OfAnother": {within: func(a absent) {
			if got := send(
				a.Context(), a.server, secondA, http.MethodPost, aguiPath, page("r2", nextTurn),
			); got.Code != http.StatusConflict {
				a.Errorf("the turn of another subject: %d %s", got.Code, got.Body)
			}
		}, want: wire.Cancelled},
		"NextTurn": {config: server.Config{DisconnectGrace: hour}, within: func(a absent) {
			a.open(http.MethodPost, aguiPath, page("r2", nextTurn))
			a.want("r2", wire.Running)
		}, want: wire.Cancelled},
		"NextTurnWaits": {config: server.Config{DisconnectGrace: hour}, within: func(a absent) {
			a.open(http.MethodPost, aguiPath, page("r2", nextTurn+`,"forwardedProps":{"spool":{"whenBusy":"enqueue"}}`))
			a.want("r2", wire.Queued)
		}, want: wire.Running},
		// The server reads the next turn before it sees that the connection of the one before was closed.
		"NextTurnFirst": {
			config: server.Config{DisconnectGrace: hour}, stays: 900 * time.Millisecond,
			within: func(a absent) {
				a.open(http.MethodPost, aguiPath, page("r2", nextTurn))
				a.want("r2", wire.Running)
			}, want: wire.Cancelled,
		},
		"NextTurnBeside": {
			config: server.Config{DisconnectGrace: hour}, stays: 1100 * time.Millisecond,
			within: func(a absent) {
				if got := send(
					a.Context(), a.server, tokenA, http.MethodPost, aguiPath, page("r2", nextTurn),
				); got.Code != http.StatusConflict {
					a.Errorf("a turn beside a connection: %d %s", got.Code, got.Body)
				}
			}, want: wire.Running,
		},
		// The client only looks at a run that somebody else has started.
		"Looks": {body: page("r9", `"messages":[]`), want: wire.Running},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if c.works == 0 {
					c.works = time.Minute
				}
				if c.token == "" {
					c.token = tokenA
				}
				who := access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}
				other, writer := who, who
				other.Subject, writer.Scopes = "alan", []access.Scope{access.ScopeWrite, access.ScopeRead}
				auth, err := access.Tokens([]access.Token{
					{Token: tokenA, Principal: who}, {Token: secondA, Principal: other}, {Token: writerA, Principal: writer},
				})
				if err != nil {
					t.Fatal(err)
				}
				c.config.Authenticator, c.config.Log = auth, slog.New(slog.DiscardHandler)
				a := absent{T: t}
				if a.engine, err = engine.New(memory.New(nil), engine.Config{
					Agents: []spool.Agent{{Name: "a", Model: "m", Tools: []spool.Tool{sendTool()}}},
					Models: map[string]spool.Model{"m": lateModel{demo.New(demo.Config{}), c.works}}, Log: c.config.Log,
				}); err != nil {
					t.Fatal(err)
				}
				if a.server, err = server.New(a.engine, c.config); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				worked := make(chan error, 1)
				go func() { worked <- a.engine.Work(ctx, engine.WorkOptions{}) }()
				defer func() {
					stop()
					a.engine.Close()
					if err := a.server.Close(); err != nil {
						t.Error(err)
					}
					if err := <-worked; err != nil {
						t.Error(err)
					}
				}()

				if c.body == "" {
					c.body = prompts("r1", "hello", "")
				} else if !strings.Contains(c.body, `"r1"`) {
					send(t.Context(), a.server, tokenA, http.MethodPost, runPath, `{"threadId":"t1","runId":"r1","prompt":"hello"}`)
				}
				leave, done := a.send(c.token, http.MethodPost, aguiPath, c.body)
				if c.stays > 0 {
					time.AfterFunc(c.stays, leave)
				} else {
					leave()
					<-done
					a.pass(5 * time.Second)
				}
				if c.within != nil {
					c.within(a)
				}
				a.pass(7 * time.Second)
				a.want("r1", c.want)
			})
		})
	}
}

// nextTurn is what a client posts that goes on with another turn.
const nextTurn = `"messages":[{"id":"m1","role":"user","content":"hello"},{"id":"m2","role":"user","content":"no, wait"}]`

func (a absent) want(run spool.RunID, want wire.State) {
	a.Helper()
	if got := a.state(run); got != want {
		a.Errorf("the run %s is %s, want %s", run, got, want)
	}
}

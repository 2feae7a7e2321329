package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/mcp"
	"github.com/spoolhq/spool/wire"
)

// office has the processes that work on a run.
type office struct {
	t   *testing.T
	db  store.Store
	url string
}

// open starts a process, and returns the function that ends it.
func (o *office) open() (e *engine.Engine, end func()) {
	o.t.Helper()

	calls := spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "shop__" + fake.Tool, Args: `{"year":2025}`}), spooltest.Say("done"),
	)
	e, err := engine.New(store.Backend{Store: o.db}, engine.Config{
		Models: map[string]spool.Model{"scripted": calls},
		Agents: []spool.Agent{
			{Name: "clerk", Model: "scripted", ToolSources: []spool.ToolSource{must(client(o.t, o.url).Tools(mcp.Selection{}))}},
		},
	})
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	return e, func() {
		stop()
		if err := <-done; err != nil {
			o.t.Error(err)
		}
		e.Close()
	}
}

// The answer to a task's question breaks off in a run. Nobody is asked again, and the task gets the answer once.
func TestTaskAnswerRun(t *testing.T) {
	t.Parallel()

	update := func(method string) bool { return method == "tasks/update" }
	for name, c := range map[string]struct {
		set func(s *fake.Server, first func() bool)
		// dies says that the process shuts down while the server has the request.
		dies bool
	}{
		"Request": {set: func(s *fake.Server, first func() bool) {
			s.Before = func(m string) bool { return !update(m) || !first() }
		}},
		"Acknowledgement": {set: func(s *fake.Server, first func() bool) {
			s.Once, s.After = true, func(m string) bool { return !update(m) || !first() }
		}},
		"Busy": {set: func(s *fake.Server, first func() bool) {
			s.Status = func(m string) int {
				if update(m) && first() {
					return http.StatusServiceUnavailable
				}
				return 0
			}
		}},
		"DiesBefore": {dies: true, set: func(s *fake.Server, first func() bool) {
			s.Before = func(m string) bool { return !update(m) || !first() }
		}},
		"DiesAfter": {dies: true, set: func(s *fake.Server, first func() bool) {
			s.After = func(m string) bool { return !update(m) || !first() }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := &office{t: t, db: memory.New(nil).Store}
			arrived, dead := make(chan struct{}, 1), make(chan struct{})
			var broken atomic.Bool
			server := &fake.Server{Begin: func(task *fake.Task) {
				task.Last(3_600_000, 1000)
				task.Ask("q1", "reason", 2)
			}}
			c.set(server, func() bool {
				if broken.Swap(true) {
					return false
				}
				if arrived <- struct{}{}; c.dies {
					<-dead
				}
				return true
			})
			after, looks := server.After, 0
			server.After = func(method string) bool {
				if method == "tasks/get" {
					if task := server.Tasks()[0]; len(task.Answers()) > 0 {
						if looks++; looks == 2 { // it still asks in the first one
							task.Complete(fake.Said("audited"))
						}
					}
				}
				return after == nil || after(method)
			}
			at := httptest.NewServer(server)
			t.Cleanup(at.Close)
			o.url = at.URL
			e, end := o.open()
			key := spool.ThreadKey{Tenant: "acme", ID: "t1"}
			if _, err := e.Run(t.Context(), key, wire.StartRequest{RunID: "r1", Prompt: "audit"}); err != nil {
				t.Fatal(err)
			}
			wait := func() wire.RunOutcome {
				t.Helper()

				got, err := e.Await(t.Context(), key, "r1")
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			if got := wait(); len(got.Parks) != 1 || got.Parks[0].Reason != mcp.ParkElicitation {
				t.Fatalf("the run is %+v", got)
			}
			answer := wire.Response{ToolCallID: "c1", Approved: true, Payload: []byte(`{"reason":"rain"}`)}
			if r, err := e.Respond(t.Context(), key, answer); err != nil || !r.Delivered {
				t.Fatalf("%+v, %v", r, err)
			}
			<-arrived
			if c.dies {
				end()
				close(dead)
				e, end = o.open()
			}
			defer end()
			task := server.Tasks()[0]
			if got := wait(); got.State != wire.Completed || len(task.Answers()) != 1 || server.Started() != 1 ||
				len(server.Wrong()) > 0 {
				t.Errorf("the run is %+v, the answers are %s, wrong are %q", got, task.Answers(), server.Wrong())
			}
		})
	}
}

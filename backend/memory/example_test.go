package memory_test

import (
	"context"
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/wire"
)

// The backend is what stays when a process ends: another engine over it goes on.
func Example() {
	backend := memory.New(nil)
	process := func() *engine.Engine {
		e, err := engine.New(backend, engine.Config{
			Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
			Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		})
		if err != nil {
			panic(err)
		}
		return e
	}
	ctx, key := context.Background(), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "hello"}

	started, err := process().Run(ctx, key, wire.StartRequest{RunID: "r1", Prompt: "Good morning"})
	fmt.Println(started.State, err)

	next := process()
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- next.Work(working, engine.WorkOptions{}) }()
	outcome, err := next.Await(ctx, key, "r1")
	fmt.Println(outcome.State, err)
	stop()
	fmt.Println(<-done)
	// Output:
	// QUEUED <nil>
	// COMPLETED <nil>
	// <nil>
}

package spooltest_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/wire"
)

// refund is the tool of an agent that is to be tested. A person has to allow its calls, and it
// may be repeated after a crash: the shop pays once for each idempotency key.
func refund() spool.Tool {
	type in struct {
		Order string `json:"order"`
	}
	t := tool.New("refund", "Pays money back.", func(_ context.Context, in in) (string, error) {
		return "paid back " + in.Order, nil
	})
	t.Approval = spool.AlwaysApprove
	t.Idempotent = true
	return t
}

// shop returns a configuration of the agent, with the tool, and with a model that calls it.
func shop(refund spool.Tool) (engine.Config, *spooltest.Model) {
	model := spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "refund", Args: `{"order":"17"}`}),
		spooltest.Say("Order 17 ", "is paid back."),
	)
	return engine.Config{
		Models: map[string]spool.Model{"scripted": model},
		Agents: []spool.Agent{{Name: "clerk", Model: "scripted", Tools: []spool.Tool{refund}}},
		Log:    slog.New(slog.DiscardHandler),
	}, model
}

var thread = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "shop"}

// An agent is tested with a model that says what the test wants. The test looks at what the model
// was asked and at what the tools did, and at the end the history is checked.
func Example() {
	ctx := context.Background()
	history := &spooltest.History{}
	backend := history.Record(memory.New(nil))
	config, model := shop(history.Tool(refund()))
	e, err := engine.New(backend, config)
	if err != nil {
		panic(err)
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- e.Work(working, engine.WorkOptions{}) }()

	if _, err := e.Run(ctx, thread, wire.StartRequest{RunID: "r1", Prompt: "I want my money back"}); err != nil {
		panic(err)
	}
	parked, err := e.Await(ctx, thread, "r1")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s for %s %s\n", parked.State, parked.Parks[0].ToolName, parked.Parks[0].Arguments)

	_, err = e.Respond(ctx, thread, wire.Response{ToolCallID: "c1", Approved: true})
	if err != nil {
		panic(err)
	}
	ended, err := e.Await(ctx, thread, "r1")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %s\n", ended.State, ended.Text)
	fmt.Printf("the model was asked %d times, the tool called %d times\n", model.Asked(), len(history.Calls()))

	stop()
	if err := <-done; err != nil {
		panic(err)
	}
	if err := history.Read(ctx, backend.Store, thread); err != nil {
		panic(err)
	}
	history.Settled = true                 // every run has to be over
	fmt.Println(len(history.Violations())) // in a test: spooltest.Check(t, history)
	// Output:
	// WAITING_FOR_INPUT for refund {"order":"17"}
	// COMPLETED: Order 17 is paid back.
	// the model was asked 2 times, the tool called 1 times
	// 0
}

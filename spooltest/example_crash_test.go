package spooltest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A process is killed after its first write, another after its second one, and so on, until
// one gets through. Each time another process goes on with what the store has.
func TestShopIsKilled(t *testing.T) {
	t.Parallel()

	killed := true
	for write := 1; killed; write++ {
		synctest.Test(t, func(t *testing.T) {
			history, backend := &spooltest.History{}, memory.New(nil)
			config, _ := shop(history.Tool(refund()))

			faulty := spooltest.NewFaulty(history.Record(backend))
			faulty.Plan(spooltest.Fault{Call: write, On: "Store.Update", Kind: spooltest.CrashAfter})
			killed = !sells(t, faulty.Backend(), config, faulty.Crashed())
			if killed && !sells(t, history.Record(backend), config, nil) {
				t.Errorf("killed after write %d, the run does not end", write)
			}

			if err := history.Read(t.Context(), backend.Store, thread); err != nil {
				t.Fatal(err)
			}
			history.Settled = true // every run has to be over
			spooltest.Check(t, history)
			paid := map[string]bool{}
			for _, call := range history.Calls() {
				paid[call.IdempotencyKey()] = true
			}
			if len(paid) != 1 {
				t.Errorf("killed after write %d, the shop pays %d times", write, len(paid))
			}
		})
	}
}

// sells is a process that starts the run, approves what it asks, and reports whether the run has
// ended before the process was killed.
func sells(t *testing.T, b store.Backend, config engine.Config, killed <-chan struct{}) bool {
	t.Helper()
	e, err := engine.New(b, config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble's time
	defer cancel()
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	defer func() {
		cancel()
		if err := <-worked; err != nil {
			t.Error(err)
		}
	}()

	result := make(chan bool, 1)
	go func() {
		// Where the run is there already, the start is refused, which is as good.
		_, _ = e.Run(ctx, thread, wire.StartRequest{RunID: "r1", Prompt: "I want my money back"})
		for {
			o, err := e.Await(ctx, thread, "r1")
			if err != nil || o.State.Terminal() {
				result <- err == nil
				return
			}
			asked := o.Parks[0]
			_, _ = e.Respond(ctx, thread, wire.Response{ToolCallID: asked.ToolCallID, Approved: true, Digest: asked.Digest})
		}
	}()
	select {
	case ended := <-result:
		return ended
	case <-killed:
		return false
	}
}

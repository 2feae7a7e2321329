package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// slowHook returns a settle hook that takes longer than a lease lasts, and its calls.
func slowHook() (hook func(context.Context, wire.Settlement) error, calls *atomic.Int64) {
	calls = new(atomic.Int64)
	return func(context.Context, wire.Settlement) error {
		calls.Add(1)
		<-time.After(40 * time.Second)
		return nil
	}, calls
}

// A settle hook that is slower than the lease is called once for a run that was stopped before a worker
// claimed it.
func TestSlowSettleHookOfAQueuedRunIsCalledOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := config(spooltest.NewModel())
		hook, calls := slowHook()
		c.OnSettle = hook
		b := memory.New(nil)
		e := newEngine(t, b, c)
		start(t, e, "r1")
		done := make(chan error, 1)
		go func() {
			_, err := e.Stop(context.Background(), key)
			done <- err
		}()
		synctest.Wait()
		stop := work(t, e)
		if err := <-done; err != nil {
			t.Error(err)
		}
		pass(2 * time.Minute)
		if n := calls.Load(); n != 1 || state(t, b) != wire.Cancelled {
			t.Errorf("%s, and the hook was called %d times", state(t, b), n)
		}
		stop()
	})
}

// A settle hook that is slower than the lease is called once for a run that is stopped
// again meanwhile.
func TestSlowSettleHookOfARunStoppedTwiceIsCalledOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := config(spooltest.NewModel(openTurn("x")))
		hook, calls := slowHook()
		c.OnSettle = hook
		b := memory.New(nil)
		e := newEngine(t, b, c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		stopRun(t, e)
		pass(35 * time.Second)
		_, err := e.Stop(t.Context(), key)
		pass(2 * time.Minute)
		if ends := entries(t, b, wire.EntryRunEnded); calls.Load() != 1 || len(ends) != 1 || state(t, b) != wire.Cancelled {
			t.Errorf("%s, the hook was called %d times, ends %v; the second stop: %v", state(t, b), calls.Load(), ends, err)
		}
		stop()
	})
}

// A parked run whose thread is deleted is settled, once.
func TestDeletedParkedRunIsSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		settled := 0
		c := config(
			spooltest.NewModel(spooltest.Turn{
				Calls: []spooltest.Call{{ID: "c1", Name: "send"}}, Usage: spooltest.Tokens(1000, 1000),
			}),
			sendTool(),
		)
		c.OnSettle = func(context.Context, wire.Settlement) error {
			settled++
			return nil
		}
		e := newEngine(t, memory.New(nil), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		deleteThread(t, e)
		pass(time.Hour)
		if settled != 1 {
			t.Errorf("a run that has used 2000 tokens was settled %d times", settled)
		}
		stop()
	})
}

// A settlement counts the tokens of cut answers too, as the thread's usage does.
func TestSettlementCountsAnswersThatBrokeOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got spool.TokenCount
		c := config(spooltest.NewModel(
			spooltest.Turn{
				Text:  []string{"half"},
				Usage: spooltest.Tokens(1000, 10),
				Err:   &spool.ModelError{Status: 503, Message: "no"},
			},
			spooltest.Turn{Text: []string{"whole"}, Usage: spooltest.Tokens(1000, 20)}))
		c.OnSettle = func(_ context.Context, s wire.Settlement) error {
			got = s.Usage
			return nil
		}
		e := newEngine(t, memory.New(nil), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Minute)
		u, err := e.Usage(t.Context(), key)
		if err != nil || got.TotalTokens != 2030 || u.Tokens.TotalTokens != got.TotalTokens {
			t.Errorf("the ledger has %d tokens, the settlement %d; %v", u.Tokens.TotalTokens, got.TotalTokens, err)
		}
		stop()
	})
}

package enginetest

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// testWaitCrash starts runs with every policy on one thread, with a fault at each call of the process
// in turn, as in testEngineCrash.
func testWaitCrash(t *testing.T, o Options) {
	t.Helper()
	calls := 0
	t.Run("nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls = waitCrashScript(newEngineTest(t, o))
		})
	})
	if calls < 30 {
		t.Fatalf("the script makes %d calls", calls)
	}
	for way, kind := range []spooltest.FaultKind{
		spooltest.CrashBefore, spooltest.CrashAfter, spooltest.FailAfter, spooltest.Rerun,
	} {
		crashPoints(t, kind.String(), calls, way, func(t *testing.T, n int) {
			t.Helper()
			waitCrashScript(newEngineTest(t, o), spooltest.Fault{Call: n, Kind: kind})
		})
	}
}

// waitCrashScript uses every policy once. It repeats each start with its key until the start is
// answered. It returns how many calls the first process made.
func waitCrashScript(t *engineTest, faults ...spooltest.Fault) int {
	s := waitTest{t}
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		last := r.Messages[len(r.Messages)-1]
		t := spooltest.Say("re: ", last.Text())
		if last.Text() == "r1" {
			t.Calls = []spooltest.Call{{ID: "c1", Name: "once"}}
		}
		t.Before = func(ctx context.Context) error {
			select {
			case <-time.After(2 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return t
	})
	c := newCampaign(s.engineTest, s.config(m, plain("once", `"done"`)), 1, false)
	n := c.boot(faults...)
	first := n
	c.hire(n)
	stop := func() {}
	for i, w := range []spool.WhenBusy{
		spool.BusyReject, spool.BusyEnqueue, spool.BusyEnqueue, spool.BusyLatest, spool.BusyInterrupt, spool.BusyRollback,
		spool.BusyEnqueue,
	} {
		id := spool.RunID("r" + strconv.Itoa(i+1))
		n = c.insist(n, wire.StartRequest{Prompt: string(id), RunID: id, IdempotencyKey: "start-" + string(id), WhenBusy: w})
		if i == 0 {
			stop = c.clients("a", "b")
		}
		<-time.After(time.Second)
	}
	s.until("all ends", func() bool {
		n = c.revive(n)
		for _, r := range s.runsOf(chat) {
			if !r.State.Terminal() {
				return false
			}
		}
		return s.thread().State.Terminal()
	})
	if runs := s.runsOf(chat); len(runs) != 7 || runs[0].State != wire.Completed || s.thread().RunID != "r7" {
		s.Errorf("the runs: %s, the thread: %+v", s.states(), s.thread())
	}
	c.finish(stop)
	return first.faulty.Calls()
}

// insist starts a run. If the process crashes, it starts the run in another process and returns that.
func (c *campaign) insist(n *node, r wire.StartRequest) *node {
	c.Helper()
	for range 10 {
		result, err := n.Run(context.Background(), chat, r)
		if err == nil && !result.Accepted {
			c.Fatalf("start %s: %+v", r.RunID, result)
		}
		if err == nil {
			c.history.Started(chat, result.RunID)
			return n
		}
		if next := c.revive(n); next != n {
			n = next
		} else {
			<-time.After(time.Second)
		}
	}
	c.Fatalf("run %s could not be started", r.RunID)
	return nil
}

// revive returns the node or, if the node has crashed, another one with a worker.
func (c *campaign) revive(n *node) *node {
	select {
	case <-n.faulty.Crashed():
		c.retire(n)
		n = c.boot()
		c.hire(n)
	default:
	}
	return n
}

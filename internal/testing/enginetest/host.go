package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestHost checks starts of runs in transactions of a host. Open returns an empty backend of an engine, and a
// host with an empty table on its database.
func TestHost(t *testing.T, open func(t *testing.T) (store.Backend, spooltest.Host)) {
	t.Helper()
	for name, test := range map[string]func(h *hostTest){
		"Commit":     testHostCommit,
		"RollBack":   testHostRollBack,
		"Panic":      testHostPanic,
		"Refused":    testHostRefused,
		"Invalid":    testHostInvalid,
		"Several":    testHostSeveral,
		"OwnRefusal": testHostOwnRefusal,
		"Canceled":   testHostCanceled,
		"Late":       testHostLate,
		"Unwoken":    testHostUnwoken,
		"Race":       testHostRace,
		"Elsewhere":  testHostElsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hostTest{T: t}
			h.backend, h.host = open(t)
			h.engine = hostEngine(t, h.backend)
			test(h)
		})
	}
}

// hostTest is a host with an engine on its database.
type hostTest struct {
	*testing.T
	backend store.Backend
	host    spooltest.Host
	engine  *engine.Engine
}

func hostEngine(t *testing.T, b store.Backend) *engine.Engine {
	t.Helper()
	model := spooltest.NewReplayModel(spooltest.Say("Hello"))
	e, err := engine.New(b, engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "scripted"}}, Models: map[string]spool.Model{"scripted": model},
		SingleProcess: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// errHost ends a transaction of the host.
var errHost = errors.New("the host has another idea")

func hostKey(n int) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(fmt.Sprint("t", n))}
}

func hostRun(n int) wire.StartRequest {
	return wire.StartRequest{RunID: spool.RunID(fmt.Sprint("r", n)), Prompt: "Hello"}
}

// start adds a number and starts a run of the same number, which must be accepted.
func (h *hostTest) start(ctx context.Context, tx spooltest.HostTx, n int) (wake func(), err error) {
	if err := tx.Insert(n); err != nil {
		return nil, err
	}
	result, wake, err := h.engine.StartTx(ctx, tx.HostTx, hostKey(n), hostRun(n))
	if err == nil && !result.Accepted {
		err = fmt.Errorf("run %d is refused: %+v", n, result)
	}
	return wake, err
}

// has checks which numbers are committed, and that exactly their runs are.
func (h *hostTest) has(want ...int) {
	h.Helper()
	ctx := context.Background()
	numbers, err := h.host.Numbers(ctx)
	if err != nil || !slices.Equal(numbers, want) {
		h.Errorf("the host has %v and the error %v, want %v", numbers, err, want)
	}
	runs, err := h.backend.Store.Runs(ctx, wire.RunQuery{Tenant: spool.DefaultTenant})
	if err != nil || len(runs) != len(want) {
		h.Errorf("there are %d runs, and the error %v, want %d", len(runs), err, len(want))
	}
	for _, n := range want {
		out, err := h.engine.Outcome(ctx, hostKey(n), hostRun(n).RunID)
		if err != nil || out.State == "" {
			h.Errorf("run %d: %+v, %v", n, out, err)
		}
		h.versioned(ctx, n)
	}
	stats, err := h.backend.Store.Stats(ctx, wire.StatsQuery{Tenant: spool.DefaultTenant, Queue: true})
	if err != nil || stats.Queue.Ready != len(want) {
		h.Errorf("%d jobs are ready, and the error %v, want %d", stats.Queue.Ready, err, len(want))
	}
}

// versioned checks that a start has given its thread one version, whose delta has the thread, the run and the turn.
func (h *hostTest) versioned(ctx context.Context, n int) {
	h.Helper()
	err := h.backend.Store.View(ctx, hostKey(n), func(v store.View) error {
		turns, err := v.Messages(store.MessageQuery{})
		if err != nil {
			return err
		}
		deltas, err := v.Deltas(store.DeltaQuery{})
		if err != nil {
			return err
		}
		if len(turns) != 1 || len(deltas) != 1 {
			h.Errorf("the thread of run %d has %d turns and the deltas %+v, want one of each", n, len(turns), deltas)
			return nil
		}
		run, d := hostRun(n).RunID, deltas[0]
		if d.Version != 1 || d.At.IsZero() || d.Thread == nil || d.Thread.State != wire.Queued || d.RunID != run {
			h.Errorf("the delta of run %d has the thread %+v of run %q: %+v", n, d.Thread, d.RunID, d)
		}
		if len(d.Runs) != 1 || d.Runs[0].ID != run || d.Runs[0].State != wire.Queued {
			h.Errorf("the delta of run %d has the runs %+v", n, d.Runs)
		}
		if len(d.View) != 1 || !slices.Equal(d.View[0].Add, []spool.MessageID{turns[0].ID}) {
			h.Errorf("the delta of run %d changes the view by %+v, want the turn %s", n, d.View, turns[0].ID)
		}
		return nil
	})
	if err != nil {
		h.Errorf("the thread of run %d: %v", n, err)
	}
}

func testHostCommit(h *hostTest) {
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		_, err := h.start(h.Context(), tx, 1)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.has(1)
}

func testHostRollBack(h *hostTest) {
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		if _, err := h.start(h.Context(), tx, 1); err != nil {
			return err
		}
		return errHost
	})
	if !errors.Is(err, errHost) {
		h.Errorf("got the error %v", err)
	}
	h.has()
	testHostCommit(h) // nothing is left that could refuse the same run
}

func testHostPanic(h *hostTest) {
	caught := func() (caught any) {
		defer func() { caught = recover() }()
		return h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
			if _, err := h.start(h.Context(), tx, 1); err != nil {
				return err
			}
			panic(errHost)
		})
	}()
	if caught != errHost { //nolint:errorlint // the same value
		h.Errorf("caught %v", caught)
	}
	h.has()
	testHostCommit(h)
}

// refusedStart starts a run with an id that is used, on another thread.
func (h *hostTest) refusedStart(tx spooltest.HostTx) error {
	result, wake, err := h.engine.StartTx(h.Context(), tx.HostTx, hostKey(9), hostRun(1))
	if err != nil || result.Accepted || result.Reason != wire.ReasonRunIDUsed {
		h.Errorf("a used id: %+v, %v", result, err)
	}
	wake() // does nothing
	return err
}

// gone checks that a thread does not exist.
func (h *hostTest) gone(n int) {
	h.Helper()
	err := h.backend.Store.View(context.Background(), hostKey(n), func(v store.View) error {
		_, err := v.Thread()
		return err
	})
	if spool.CodeOf(err) != spool.NotFound {
		h.Errorf("the thread of a refused start: %v", err)
	}
}

// A refused start leaves nothing, and the transaction goes on.
func testHostRefused(h *hostTest) {
	testHostCommit(h)
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		if err := h.refusedStart(tx); err != nil {
			return err
		}
		_, err := h.start(h.Context(), tx, 2)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.gone(9)
	h.has(1, 2)
}

// A start that is wrong, or fails in its transaction, leaves nothing.
func testHostInvalid(h *hostTest) {
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		_, _, err := h.engine.StartTx(h.Context(), tx.HostTx, hostKey(9), wire.StartRequest{RunID: "r9"})
		if spool.CodeOf(err) != spool.Invalid {
			h.Errorf("a start without a prompt: %v", err)
		}
		err = tx.Update(h.Context(), hostKey(9), func(tx store.Tx) error {
			job := wire.Job{Tenant: spool.DefaultTenant, ThreadID: "t9", RunID: "r9", Agent: "assistant"}
			return errors.Join(tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, Jobs: []wire.Job{job}}), errHost)
		})
		if !errors.Is(err, errHost) {
			h.Errorf("a failed update: %v", err)
		}
		_, err = h.start(h.Context(), tx, 1)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.gone(9)
	h.has(1)
}

// A transaction may start several runs.
func testHostSeveral(h *hostTest) {
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		for n := range 3 {
			if _, err := h.start(h.Context(), tx, n+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.Fatal(err)
	}
	h.has(1, 2, 3)
}

// A start sees what the transaction has written before it.
func testHostOwnRefusal(h *hostTest) {
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		if _, err := h.start(h.Context(), tx, 1); err != nil {
			return err
		}
		result, _, err := h.engine.StartTx(h.Context(), tx.HostTx, hostKey(1),
			wire.StartRequest{RunID: "r2", Prompt: "Hello", WhenBusy: spool.BusyReject})
		if err != nil || result.Accepted || result.Reason != wire.ReasonActiveRun {
			h.Errorf("a second run: %+v, %v", result, err)
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.has(1)
}

// A context that has ended before a start leaves the transaction as it was.
func testHostCanceled(h *hostTest) {
	ended, cancel := context.WithCancel(h.Context())
	cancel()
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		_, _, err := h.engine.StartTx(ended, tx.HostTx, hostKey(9), hostRun(9))
		if spool.CodeOf(err) != spool.Canceled {
			h.Errorf("a start that was canceled: %v", err)
		}
		_, err = h.start(h.Context(), tx, 1)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.has(1)
	if err := h.host.Transact(ended, func(spooltest.HostTx) error { return nil }); err == nil {
		h.Error("a transaction of an ended context was committed")
	}
}

// A start after the end of the transaction says so.
func testHostLate(h *hostTest) {
	for _, end := range []error{nil, errHost} {
		var late spooltest.HostTx
		err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
			late = tx
			return end
		})
		if !errors.Is(err, end) {
			h.Fatal(err)
		}
		result, wake, err := h.engine.StartTx(h.Context(), late.HostTx, hostKey(1), hostRun(1))
		wake()
		if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != "the transaction has ended" || result.Accepted {
			h.Errorf("a start after the end with %v: %+v, %v", end, result, err)
		}
	}
	h.has()
}

// Without the wake, a worker finds the run within two seconds. With it, at once.
func testHostUnwoken(h *hostTest) {
	ctx, cancel := context.WithCancel(h.Context())
	done := make(chan error, 1)
	go func() { done <- h.engine.Work(ctx, engine.WorkOptions{}) }()
	for n := 1; n <= 2; n++ {
		var wake func()
		err := h.host.Transact(ctx, func(tx spooltest.HostTx) (err error) {
			wake, err = h.start(ctx, tx, n)
			return err
		})
		if err != nil {
			h.Fatal(err)
		}
		begun := time.Now()
		if n == 2 {
			wake()
		}
		out, err := h.engine.Await(ctx, hostKey(n), hostRun(n).RunID)
		if err != nil || out.State != wire.Completed {
			h.Errorf("%+v, %v", out, err)
		}
		if waited := time.Since(begun); waited > 5*time.Second { // two, on a busy machine
			h.Errorf("run %d took %v", n, waited)
		}
	}
	cancel()
	if err := <-done; err != nil {
		h.Error(err)
	}
}

// Transactions of hosts, of which some roll back, and other starts leave each other alone.
func testHostRace(h *hostTest) {
	const hosts = 12
	var wg sync.WaitGroup
	calls := make([]int, hosts+1)
	for n := 1; n <= hosts; n++ {
		wg.Go(func() {
			err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
				calls[n]++
				if _, err := h.start(h.Context(), tx, n); err != nil {
					return err
				}
				if n%3 == 0 {
					return errHost
				}
				return nil
			})
			if (n%3 == 0) != errors.Is(err, errHost) || n%3 != 0 && err != nil {
				h.Errorf("transaction %d: %v", n, err)
			}
		})
		wg.Go(func() { // an update that fails after a write
			err := h.backend.Store.Update(h.Context(), hostKey(100+n), 0, func(tx store.Tx) error {
				return errors.Join(tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}), errHost)
			})
			if !errors.Is(err, errHost) {
				h.Errorf("update %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	h.has(1, 2, 4, 5, 7, 8, 10, 11)
	for n, times := range calls[1:] {
		if times != 1 {
			h.Errorf("the function %d ran %d times", n+1, times)
		}
	}
}

// An engine on another database refuses the transaction.
func testHostElsewhere(h *hostTest) {
	elsewhere := h.backend
	elsewhere.HostTx = ""
	other := hostEngine(h.T, elsewhere)
	elsewhere.HostTx = "another"
	another := hostEngine(h.T, elsewhere)
	err := h.host.Transact(h.Context(), func(tx spooltest.HostTx) error {
		for _, e := range []*engine.Engine{other, another} {
			if _, _, err := e.StartTx(h.Context(), tx.HostTx, hostKey(9), hostRun(9)); spool.CodeOf(err) != spool.Invalid {
				h.Errorf("an engine elsewhere: %v", err)
			}
		}
		_, err := h.start(h.Context(), tx, 1)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.has(1)
}

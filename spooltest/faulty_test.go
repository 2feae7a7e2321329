package spooltest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var faultyKey = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}

// touch makes the thread, or adds an entry to its record.
func touch(ctx context.Context, s store.Store) error {
	return s.Update(ctx, faultyKey, 0, func(tx store.Tx) error {
		if _, err := tx.Thread(); spool.CodeOf(err) == spool.NotFound {
			if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
				return err
			}
		}
		return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry(wire.EntryRunRefused, "", wire.RunRefused{})}})
	})
}

// touched returns how many entries there are.
func touched(t *testing.T, s store.Store) int {
	t.Helper()
	n := 0
	err := s.View(t.Context(), faultyKey, func(v store.View) error {
		entries, err := v.Entries(store.EntryQuery{})
		n = len(entries)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFaultyUpdate(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		kind   spooltest.FaultKind
		code   spool.Code
		before int // how often the second of three updates happened when it returned
		after  int // how often all of them did
	}{
		{0, "", 2, 3},
		{spooltest.FailBefore, spool.Unavailable, 1, 2},
		{spooltest.FailAfter, spool.Unavailable, 2, 3},
		{spooltest.CrashBefore, spool.Unavailable, 1, 1},
		{spooltest.CrashAfter, spool.Unavailable, 2, 2},
		{spooltest.Rerun, "", 2, 3},
	} {
		t.Run(test.kind.String(), func(t *testing.T) {
			t.Parallel()

			inner := memory.New(nil)
			f := spooltest.NewFaulty(inner)
			f.Plan(spooltest.Fault{Call: 2, Kind: test.kind})
			store := f.Backend().Store
			if err := touch(t.Context(), store); err != nil {
				t.Fatal(err)
			}
			if err := touch(t.Context(), store); spool.CodeOf(err) != test.code {
				t.Errorf("the second update returned %v, want code %q", err, test.code)
			}
			if got := touched(t, inner.Store); got != test.before {
				t.Errorf("%d updates happened, want %d", got, test.before)
			}
			err := touch(t.Context(), store)
			if got := touched(t, inner.Store); got != test.after {
				t.Errorf("%d updates happened in the end, want %d", got, test.after)
			}
			crashed := test.kind == spooltest.CrashBefore || test.kind == spooltest.CrashAfter
			if crashed != (err != nil) || crashed != isClosed(f.Crashed()) {
				t.Errorf("after it an update returned %v, crashed %v", err, isClosed(f.Crashed()))
			}
		})
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestFaultyOwnErrors(t *testing.T) {
	t.Parallel()

	f := spooltest.NewFaulty(memory.New(nil))
	boom := errors.New("boom")
	for _, kind := range []spooltest.FaultKind{spooltest.FailAfter, spooltest.Rerun} {
		f.Plan(spooltest.Fault{Call: f.Calls() + 1, Kind: kind})
		err := f.Backend().Store.Update(t.Context(), faultyKey, 0, func(store.Tx) error { return boom })
		if !errors.Is(err, boom) {
			t.Errorf("%v: the update returned %v, want the function's error", kind, err)
		}
	}
}

func TestFaultyHang(t *testing.T) {
	t.Parallel()

	inner := memory.New(nil)
	f := spooltest.NewFaulty(inner)
	f.Plan(spooltest.Fault{Call: 1, Kind: spooltest.Hang})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := touch(ctx, f.Backend().Store); spool.CodeOf(err) != spool.Canceled {
		t.Errorf("the call returned %v, want %q", err, spool.Canceled)
	}
	if touched(t, inner.Store) != 0 {
		t.Error("the call happened")
	}
}

// Every call of every port is counted, named and can fail.
func TestFaultyEveryCall(t *testing.T) {
	t.Parallel()

	want := []string{
		"Store.Update default/t", "Store.View default/t", "Store.Threads default", "Store.Runs default", "Store.Jobs default",
		"Store.Audit default", "Store.Rows default", "Store.Stats default", "Store.Claim", "Store.Ack r",
		"Store.Prune default", "Live.Open r:1", "Live.Append r:1", "Live.Read r:1", "Live.Close r:1", "Live.Delete default/t",
	}
	for n := range want {
		f := spooltest.NewFaulty(memory.New(nil))
		f.Plan(spooltest.Fault{Call: n + 1, Kind: spooltest.FailBefore})
		codes := everyCall(t.Context(), f.Backend())
		if got := f.Log(); !slices.Equal(got, want) || f.Calls() != len(want) {
			t.Fatalf("log is %q, want %q", got, want)
		}
		for i, code := range codes {
			if (code == spool.Unavailable) != (i == n) {
				t.Errorf("with call %d planned to fail, %s returned %q", n+1, want[i], code)
			}
		}
	}
}

func everyCall(ctx context.Context, b store.Backend) []spool.Code {
	d := store.Delivery{Job: wire.Job{RunID: "r"}}
	key := store.StreamKey{Thread: faultyKey, ID: "r:1"}
	second := func(_ any, err error) error { return err }
	tenant := faultyKey.Tenant
	errs := []error{
		touch(ctx, b.Store),
		b.Store.View(ctx, faultyKey, func(store.View) error { return nil }),
		second(b.Store.Threads(ctx, wire.ThreadQuery{Tenant: tenant})),
		second(b.Store.Runs(ctx, wire.RunQuery{Tenant: tenant})), second(b.Store.Jobs(ctx, wire.JobQuery{Tenant: tenant})),
		second(b.Store.Audit(ctx, wire.AuditQuery{Tenant: tenant})),
		second(b.Store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: "k"})),
		second(b.Store.Stats(ctx, wire.StatsQuery{Tenant: tenant, Tally: true})),
	}
	_, _, claimErr := b.Store.Claim(ctx, store.ClaimQuery{Limit: 1, Lease: time.Minute})
	errs = append(errs, claimErr, b.Store.Ack(ctx, d, store.Ack{Kind: store.AckDone}),
		second(b.Store.Prune(ctx, store.PruneQuery{Kind: store.PruneDead, Tenant: tenant})),
		b.Live.Open(ctx, key), b.Live.Append(ctx, key, nil), second(b.Live.Read(ctx, key, wire.Offset{}, 0)),
		b.Live.Close(ctx, key, wire.Item{}, 0), b.Live.Delete(ctx, faultyKey),
	)
	codes := make([]spool.Code, len(errs))
	for i, err := range errs {
		codes[i] = spool.CodeOf(err)
	}
	return codes
}

func TestFaultyOn(t *testing.T) {
	t.Parallel()

	f := spooltest.NewFaulty(memory.New(nil))
	f.Plan(
		spooltest.Fault{On: "Store.Update", Call: 2, Kind: spooltest.FailBefore},
		spooltest.Fault{On: "Live", Call: 1, Kind: spooltest.FailBefore},
	)
	b := f.Backend()
	if err := touch(t.Context(), b.Store); err != nil {
		t.Error(err)
	}
	if touched(t, b.Store) != 1 {
		t.Error("a view failed")
	}
	if err := touch(t.Context(), b.Store); err == nil {
		t.Error("the second update did not fail")
	}
	if err := b.Live.Delete(t.Context(), faultyKey); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("the first call of the run streams returned %v", err)
	}
}

func TestFaultyDeliveries(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		kind          spooltest.FaultKind
		first, second int
	}{
		{0, 1, 0}, {spooltest.Duplicate, 1, 1}, {spooltest.Delay, 0, 1},
	} {
		t.Run(test.kind.String(), func(t *testing.T) {
			t.Parallel()

			f := spooltest.NewFaulty(memory.New(nil))
			f.Plan(spooltest.Fault{On: "Store.Claim", Call: 1, Kind: test.kind})
			b := f.Backend()
			err := b.Store.Update(t.Context(), faultyKey, 0, func(tx store.Tx) error {
				return tx.Write(store.Changes{Jobs: []wire.Job{{Tenant: faultyKey.Tenant, ThreadID: faultyKey.ID, RunID: "r"}}})
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []int{test.first, test.second, 0} {
				taken, _, err := b.Store.Claim(t.Context(), store.ClaimQuery{Limit: 1, Lease: time.Minute})
				if err != nil || len(taken) != want {
					t.Errorf("claim %d returned %v, %v, want %d deliveries", i+1, taken, err, want)
				}
			}
		})
	}
}

func TestFaultyWakes(t *testing.T) {
	t.Parallel()

	f := spooltest.NewFaulty(memory.New(nil))
	live, woken := f.Backend().Live, 0
	stop, err := live.Subscribe(t.Context(), faultyKey, func(store.WakeKind, []byte) { woken++ })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	live.Wake(faultyKey, store.WakeRecord, nil)
	f.DropWakes(true)
	live.Wake(faultyKey, store.WakeRecord, nil)
	f.DropWakes(false)
	live.Wake(faultyKey, store.WakeRecord, nil)
	if woken != 2 {
		t.Errorf("woken %d times, want 2", woken)
	}
}

// Without a plan the wrapper changes nothing.
func TestFaultyLive(t *testing.T) {
	t.Parallel()

	spooltest.TestLive(t, func(*testing.T) store.Live { return spooltest.NewFaulty(store.Backend{}).Backend().Live })
}

// Check is not counted, and fails after a crash.
func TestFaultyCheck(t *testing.T) {
	t.Parallel()

	f := spooltest.NewFaulty(memory.New(nil))
	f.Plan(spooltest.Fault{Call: 1, Kind: spooltest.CrashBefore})
	store := f.Backend().Store
	if err := store.Check(t.Context()); err != nil || f.Calls() != 0 {
		t.Errorf("check: %v, and %d calls", err, f.Calls())
	}
	if err := touch(t.Context(), store); err == nil {
		t.Error("the update did not crash")
	}
	if err := store.Check(t.Context()); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("check after the crash: %v", err)
	}
}

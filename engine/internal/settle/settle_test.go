package settle

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The hook is told what the run is, how it ends, and its output only if it has completed.
func TestOf(t *testing.T) {
	t.Parallel()
	run := store.RunRow{
		Run: wire.Run{
			Tenant: "t", ThreadID: "c", ID: "r", Agent: "a", Steps: 2, TokenCount: spool.TokenCount{TotalTokens: 3},
			Currency: "USD", CostMicros: 4, State: wire.Running,
		},
		RunState: store.RunState{
			HostState: json.RawMessage(`{"h":1}`), Output: &store.RunOutput{Value: json.RawMessage(`1`)},
		},
	}
	want := wire.Settlement{
		Thread: spool.ThreadKey{Tenant: "t", ID: "c"}, RunID: "r", Agent: "a", State: wire.Failed,
		StopReason: wire.StopFailed, Error: "no", Steps: 2, Usage: spool.TokenCount{TotalTokens: 3},
		Costs: []wire.Money{{Currency: "USD", Micros: 4}}, HostState: json.RawMessage(`{"h":1}`),
	}
	if diff := cmp.Diff(
		want, Of(run, store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: "no"}),
	); diff != "" {
		t.Errorf("a failure (-want +got):\n%s", diff)
	}
	want.State, want.StopReason, want.Error, want.Output = wire.Completed, wire.StopCompleted, "", json.RawMessage(`1`)
	if diff := cmp.Diff(want, Of(run, store.Ending{State: wire.Completed, Reason: wire.StopCompleted})); diff != "" {
		t.Errorf("a completion (-want +got):\n%s", diff)
	}
}

// hook returns a hook that fails a number of times, and counts its calls.
func hook(s store.Store, failures int, calls *int) Hook {
	return Hook{Store: s, Log: slog.New(slog.DiscardHandler), Settle: func(context.Context, wire.Settlement) error {
		*calls++
		switch {
		case *calls > failures:
			return nil
		case *calls%2 == 0:
			panic("no")
		}
		return errors.New("no")
	}}
}

// A hook that fails is called again, up to three times, after longer and longer waits. A panic is a failure.
func TestCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failures, calls int
		fails           bool
		took            time.Duration
	}{{0, 1, false, 0}, {1, 2, false, wait}, {2, 3, false, 3 * wait}, {3, 3, true, 3 * wait}} {
		synctest.Test(t, func(t *testing.T) {
			calls, began := 0, time.Now()
			err := hook(nil, c.failures, &calls).Call(t.Context(), wire.Settlement{})
			if took := time.Since(began); calls != c.calls || (err != nil) != c.fails || took != c.took {
				t.Errorf("%d failures: %d calls in %s, and %v", c.failures, calls, took, err)
			}
		})
	}
	if err := (Hook{}).Call(t.Context(), wire.Settlement{}); err != nil {
		t.Errorf("without a hook: %v", err)
	}
}

// A settlement is tried again for a run that has ended and is not settled, by one process at a time.
func TestAgain(t *testing.T) {
	t.Parallel()
	done, nothing := wire.JobResult{Accepted: true}, wire.JobResult{Accepted: true, Reason: "there is nothing to settle"}
	for _, c := range []struct {
		name     string
		run      *store.RunRow
		failures int
		want     wire.JobResult
		calls    int
		changes  string
	}{
		{"it has ended", &store.RunRow{Run: wire.Run{State: wire.Failed}}, 0, done, 1, "run r SettledAt=1m0s"},
		{"it was claimed by a process that died", &store.RunRow{
			Run: wire.Run{State: wire.Failed}, RunState: store.RunState{SettleClaim: maptx.Start.Add(time.Minute)},
		}, 0, done, 1, "run r SettleClaim=- SettledAt=1m0s"},
		{
			"it is claimed", &store.RunRow{
				Run:      wire.Run{State: wire.Failed},
				RunState: store.RunState{SettleClaim: maptx.Start.Add(3 * time.Minute)},
			}, 0,
			wire.JobResult{Reason: "it is being settled", RetryAfter: 2 * time.Minute},
			0, "",
		},
		{
			"it is settled", &store.RunRow{Run: wire.Run{State: wire.Failed}, RunState: store.RunState{SettledAt: maptx.Start}},
			0, nothing, 0, "",
		},
		{"it has not ended", &store.RunRow{Run: wire.Run{State: wire.Running}}, 0, nothing, 0, ""},
		{"it is gone", nil, 0, nothing, 0, ""},
		{
			"the hook fails", &store.RunRow{Run: wire.Run{State: wire.Failed}}, 3,
			wire.JobResult{Reason: "the settle hook failed", RetryAfter: time.Minute},
			3, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rows := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start.Add(time.Minute))
				rows.Rows.Thread = &wire.Thread{}
				if c.run != nil {
					c.run.ID = "r"
					rows.Rows.Runs = []store.RunRow{*c.run}
				}
				before, calls := rows.Clone(), 0
				h := hook(maptx.Store{Tx: rows}, c.failures, &calls)
				hooked := h.Settle
				h.Settle = func(ctx context.Context, s wire.Settlement) error {
					if claim := rows.Rows.Runs[0].SettleClaim; !claim.Equal(rows.At.Add(Claim)) {
						t.Errorf("while the hook runs, the claim lasts until %s", claim)
					}
					return hooked(ctx, s)
				}
				got, err := h.Again(t.Context(), wire.Job{RunID: "r"})
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil || calls != c.calls {
					t.Errorf("%d calls, %v (-want +got):\n%s", calls, err, diff)
				}
				if diff := cmp.Diff(c.changes, maptx.Diff(before, rows)); diff != "" {
					t.Errorf("changes (-want +got):\n%s", diff)
				}
			})
		})
	}
	if got, err := (Hook{}).Again(t.Context(), wire.Job{}); err != nil || !got.Accepted ||
		got.Reason != "there is no settle hook" {
		t.Errorf("without a hook: %+v, %v", got, err)
	}
}

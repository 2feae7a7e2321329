package delta_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/delta"
)

var key = spool.ThreadKey{Tenant: "acme", ID: "t"}

// A commit has a delta if it changes something that a snapshot shows, and the delta has only that.
func TestStore(t *testing.T) {
	t.Parallel()

	s := delta.Store{Store: memory.New(nil).Store}
	run := spool.RunRow{Run: spool.Run{Tenant: key.Tenant, ID: "r", ThreadID: key.ID, State: spool.Queued, Prompt: "brief"}}
	waiting := spool.RunRow{
		Run:      spool.Run{Tenant: key.Tenant, ID: "w", ThreadID: key.ID, State: spool.Queued, QueuePosition: 9},
		RunState: spool.RunState{Wait: &spool.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent("later")}, HostState: []byte(`{"secret":1}`)},
	}
	message := func(id spool.MessageID) []*spool.Message {
		return []*spool.Message{{ID: id, Role: spool.RoleUser, Content: spool.TextContent("x")}}
	}
	reread := func(tx spool.Tx, change func(r *spool.RunRow)) error {
		r, err := spool.FindRun(tx, "r")
		if err != nil {
			return err
		}
		change(&r)
		return tx.Write(spool.Changes{Runs: []spool.RunRow{r}})
	}
	queued := spool.WireRun{ID: "r", ThreadID: "t", State: spool.Queued, Prompt: "brief"}
	running := spool.WireRun{ID: "r", ThreadID: "t", State: spool.Running}
	for _, step := range []struct {
		name string
		fn   func(tx spool.Tx) error
		want *spool.SnapshotDelta // nil: none
	}{
		{"a start", func(tx spool.Tx) error {
			return tx.Write(spool.Changes{
				Thread:  &spool.Thread{Tenant: key.Tenant, ID: key.ID, State: spool.Queued, RunID: "r", Title: "x"},
				NewRuns: []spool.RunRow{run}, Messages: message("m1"),
			})
		}, &spool.SnapshotDelta{
			Thread: &spool.DeltaThread{State: spool.Queued, Title: "x"}, RunID: "r",
			Runs: []spool.DeltaRun{{WireRun: queued}}, View: []spool.ViewChange{{Add: []spool.MessageID{"m1"}}},
		}},
		{"a lease", func(tx spool.Tx) error {
			thread, err := tx.Thread()
			thread.Fence++
			return errors.Join(err, tx.Write(spool.Changes{Thread: &thread}))
		}, nil},
		{"a state of the engine", func(tx spool.Tx) error { return reread(tx, func(r *spool.RunRow) { r.Deaths++ }) }, nil},
		{"nothing", func(tx spool.Tx) error { _, err := tx.Thread(); return err }, nil},
		{"a state of the run", func(tx spool.Tx) error {
			return reread(tx, func(r *spool.RunRow) { r.State = spool.Running })
		}, &spool.SnapshotDelta{Runs: []spool.DeltaRun{{WireRun: running}}}},
		{"a change and back", func(tx spool.Tx) error {
			return errors.Join(
				reread(tx, func(r *spool.RunRow) { r.Steps++ }), reread(tx, func(r *spool.RunRow) { r.Steps-- }))
		}, nil},
		{"an entry", func(tx spool.Tx) error {
			return tx.Write(spool.Changes{Entries: []*spool.Entry{spool.NewEntry("A", "", nil)}})
		}, &spool.SnapshotDelta{}},
		{"a waiting run, without its secrets", func(tx spool.Tx) error {
			return tx.Write(spool.Changes{NewRuns: []spool.RunRow{waiting}})
		}, &spool.SnapshotDelta{Runs: []spool.DeltaRun{{
			WireRun: spool.WireRun{ID: "w", ThreadID: "t", State: spool.Queued}, Place: 9,
			Wait: &spool.DeltaWait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent("later")},
		}}}},
		{"messages, some of which leave again", func(tx spool.Tx) error {
			return errors.Join(
				tx.Write(spool.Changes{Messages: message("m2")}), tx.Write(spool.Changes{Messages: message("m3")}),
				tx.Write(spool.Changes{Entries: []*spool.Entry{spool.NewEntry("A", "", nil)}}),
				tx.Write(spool.Changes{Drop: &spool.Drop{From: "m3", Seq: 2}, Messages: message("m4")}))
		}, &spool.SnapshotDelta{View: []spool.ViewChange{
			{Add: []spool.MessageID{"m2", "m3"}}, {Drop: 2, From: "m3"}, {Add: []spool.MessageID{"m4"}},
		}}},
		{"a branch comes back", func(tx spool.Tx) error {
			return errors.Join(
				tx.Write(spool.Changes{Entries: []*spool.Entry{spool.NewEntry("A", "", nil)}}),
				tx.Write(spool.Changes{Drop: &spool.Drop{From: "m4", Seq: 3}}), tx.Write(spool.Changes{Restore: 2}))
		}, &spool.SnapshotDelta{View: []spool.ViewChange{{Drop: 3, From: "m4"}, {Restore: 2, From: "m3"}}}},
		{"a park", func(tx spool.Tx) error {
			return tx.Write(spool.Changes{Parks: []spool.Park{{RunID: "r", ToolCallID: "c", State: spool.ParkOpen}}})
		}, &spool.SnapshotDelta{Parks: []spool.DeltaPark{{RunID: "r", ToolCallID: "c", State: spool.ParkOpen}}}},
		{"a park that stays open", func(tx spool.Tx) error {
			parks, err := tx.Parks("r")
			if err != nil {
				return err
			}
			parks[0].Warned = true
			return tx.Write(spool.Changes{Parks: parks})
		}, nil},
	} {
		before := deltas(t, s)
		tries := 0
		err := s.Update(t.Context(), key, 0, func(tx spool.Tx) error {
			tries++
			return step.fn(tx)
		})
		if err != nil || tries != 1 {
			t.Fatalf("%s: %d tries, %v", step.name, tries, err)
		}
		after := deltas(t, s)
		switch {
		case step.want == nil && len(after) == len(before):
		case step.want == nil || len(after) != len(before)+1:
			t.Fatalf("%s: %d deltas, and %d before", step.name, len(after), len(before))
		default:
			got := after[len(before)]
			got.Version, got.Seq, got.At = 0, 0, step.want.At
			if diff := cmp.Diff(*step.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
	}
	// A transaction that fails leaves none, and one that deletes the thread needs none.
	errOwn := errors.New("no")
	before := deltas(t, s)
	err := s.Update(t.Context(), key, 0, func(tx spool.Tx) error {
		return errors.Join(tx.Write(spool.Changes{Messages: message("m9")}), errOwn)
	})
	if !errors.Is(err, errOwn) || len(deltas(t, s)) != len(before) {
		t.Errorf("a failure: %v", err)
	}
	err = s.Update(t.Context(), key, 0, func(tx spool.Tx) error {
		return errors.Join(tx.Write(spool.Changes{Messages: message("m9")}), tx.Write(spool.Changes{DeleteThread: true}))
	})
	if err != nil {
		t.Errorf("a deletion: %v", err)
	}
}

// The store may run a transaction again: the delta has what the last run did.
func TestStoreRunsAgain(t *testing.T) {
	t.Parallel()

	again := &twice{Store: memory.New(nil).Store}
	s := delta.Store{Store: again}
	err := s.Update(t.Context(), key, 0, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread: &spool.Thread{Tenant: key.Tenant, ID: key.ID, State: spool.Idle}, Messages: []*spool.Message{{ID: "m", Role: spool.RoleUser}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := deltas(t, s); len(got) != 1 || len(got[0].View) != 1 || len(got[0].View[0].Add) != 1 {
		t.Errorf("%+v", got)
	}
}

func deltas(t *testing.T, s spool.Store) (all []spool.SnapshotDelta) {
	t.Helper()
	err := s.View(t.Context(), key, func(v spool.View) (err error) {
		all, err = v.Deltas(spool.DeltaQuery{})
		return err
	})
	if err != nil && spool.CodeOf(err) != spool.NotFound {
		t.Fatal(err)
	}
	return all
}

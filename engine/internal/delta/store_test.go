package delta_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/delta"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var key = spool.ThreadKey{Tenant: "acme", ID: "t"}

// A commit has a delta if it changes something that a snapshot shows, and the delta has only that.
func TestStore(t *testing.T) {
	t.Parallel()

	s := delta.Store{Store: memory.New(nil).Store}
	run := store.RunRow{Run: wire.Run{Tenant: key.Tenant, ID: "r", ThreadID: key.ID, State: wire.Queued, Prompt: "brief"}}
	waiting := store.RunRow{
		Run: wire.Run{Tenant: key.Tenant, ID: "w", ThreadID: key.ID, State: wire.Queued, QueuePosition: 9},
		RunState: store.RunState{
			Wait:      &store.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent("later")},
			HostState: []byte(`{"secret":1}`),
		},
	}
	message := func(id spool.MessageID) []*spool.Message {
		return []*spool.Message{{ID: id, Role: spool.RoleUser, Content: spool.TextContent("x")}}
	}
	reread := func(tx store.Tx, change func(r *store.RunRow)) error {
		r, err := store.FindRun(tx, "r")
		if err != nil {
			return err
		}
		change(&r)
		return tx.Write(store.Changes{Runs: []store.RunRow{r}})
	}
	queued := wire.RunJSON{ID: "r", ThreadID: "t", State: wire.Queued, Prompt: "brief"}
	running := wire.RunJSON{ID: "r", ThreadID: "t", State: wire.Running}
	for _, step := range []struct {
		name string
		fn   func(tx store.Tx) error
		want *store.SnapshotDelta // nil: none
	}{
		{"a start", func(tx store.Tx) error {
			return tx.Write(store.Changes{
				Thread:  &wire.Thread{Tenant: key.Tenant, ID: key.ID, State: wire.Queued, RunID: "r", Title: "x"},
				NewRuns: []store.RunRow{run}, Messages: message("m1"),
			})
		}, &store.SnapshotDelta{
			Thread: &store.DeltaThread{State: wire.Queued, Title: "x"}, RunID: "r",
			Runs: []store.DeltaRun{{RunJSON: queued}}, View: []store.ViewChange{{Add: []spool.MessageID{"m1"}}},
		}},
		{"a lease", func(tx store.Tx) error {
			thread, err := tx.Thread()
			thread.Fence++
			return errors.Join(err, tx.Write(store.Changes{Thread: &thread}))
		}, nil},
		{"a state of the engine", func(tx store.Tx) error { return reread(tx, func(r *store.RunRow) { r.Deaths++ }) }, nil},
		{"nothing", func(tx store.Tx) error { _, err := tx.Thread(); return err }, nil},
		{"a state of the run", func(tx store.Tx) error {
			return reread(tx, func(r *store.RunRow) { r.State = wire.Running })
		}, &store.SnapshotDelta{Runs: []store.DeltaRun{{RunJSON: running}}}},
		{"a change and back", func(tx store.Tx) error {
			return errors.Join(
				reread(tx, func(r *store.RunRow) { r.Steps++ }), reread(tx, func(r *store.RunRow) { r.Steps-- }))
		}, nil},
		{"an entry", func(tx store.Tx) error {
			return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
		}, &store.SnapshotDelta{}},
		{"a waiting run, without its secrets", func(tx store.Tx) error {
			return tx.Write(store.Changes{NewRuns: []store.RunRow{waiting}})
		}, &store.SnapshotDelta{Runs: []store.DeltaRun{{
			RunJSON: wire.RunJSON{ID: "w", ThreadID: "t", State: wire.Queued}, Place: 9,
			Wait: &store.DeltaWait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent("later")},
		}}}},
		{"messages, some of which leave again", func(tx store.Tx) error {
			return errors.Join(
				tx.Write(store.Changes{Messages: message("m2")}), tx.Write(store.Changes{Messages: message("m3")}),
				tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}),
				tx.Write(store.Changes{Drop: &store.Drop{From: "m3", Seq: 2}, Messages: message("m4")}))
		}, &store.SnapshotDelta{View: []store.ViewChange{
			{Add: []spool.MessageID{"m2", "m3"}}, {Drop: 2, From: "m3"}, {Add: []spool.MessageID{"m4"}},
		}}},
		{"a branch comes back", func(tx store.Tx) error {
			return errors.Join(
				tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}),
				tx.Write(store.Changes{Drop: &store.Drop{From: "m4", Seq: 3}}), tx.Write(store.Changes{Restore: 2}))
		}, &store.SnapshotDelta{View: []store.ViewChange{{Drop: 3, From: "m4"}, {Restore: 2, From: "m3"}}}},
		{"a park", func(tx store.Tx) error {
			return tx.Write(store.Changes{Parks: []store.Park{{RunID: "r", ToolCallID: "c", State: wire.ParkOpen}}})
		}, &store.SnapshotDelta{Parks: []store.DeltaPark{{RunID: "r", ToolCallID: "c", State: wire.ParkOpen}}}},
		{"a park that stays open", func(tx store.Tx) error {
			parks, err := tx.Parks("r")
			if err != nil {
				return err
			}
			parks[0].Warned = true
			return tx.Write(store.Changes{Parks: parks})
		}, nil},
	} {
		before := deltas(t, s)
		tries := 0
		err := s.Update(t.Context(), key, 0, func(tx store.Tx) error {
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
	err := s.Update(t.Context(), key, 0, func(tx store.Tx) error {
		return errors.Join(tx.Write(store.Changes{Messages: message("m9")}), errOwn)
	})
	if !errors.Is(err, errOwn) || len(deltas(t, s)) != len(before) {
		t.Errorf("a failure: %v", err)
	}
	err = s.Update(t.Context(), key, 0, func(tx store.Tx) error {
		return errors.Join(tx.Write(store.Changes{Messages: message("m9")}), tx.Write(store.Changes{DeleteThread: true}))
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
	err := s.Update(t.Context(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread:   &wire.Thread{Tenant: key.Tenant, ID: key.ID, State: wire.Idle},
			Messages: []*spool.Message{{ID: "m", Role: spool.RoleUser}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := deltas(t, s); len(got) != 1 || len(got[0].View) != 1 || len(got[0].View[0].Add) != 1 {
		t.Errorf("%+v", got)
	}
}

func deltas(t *testing.T, s store.Store) (all []store.SnapshotDelta) {
	t.Helper()
	err := s.View(t.Context(), key, func(v store.View) (err error) {
		all, err = v.Deltas(store.DeltaQuery{})
		return err
	})
	if err != nil && spool.CodeOf(err) != spool.NotFound {
		t.Fatal(err)
	}
	return all
}

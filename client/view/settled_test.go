package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

// The view of a transcript is settled where its runs wait or have ended, and nowhere else, also if each state comes as
// early as it may.
func TestSettled(t *testing.T) {
	t.Parallel()

	var tr transcript
	fixture(t, "transcript", &tr)
	v := view.New(nil)
	var settled []string
	last := ""
	for i, f := range tr.Frames {
		tr.apply(t, v, i, i+1)
		if f.ID != nil {
			last = *f.ID
		}
		if v.Settled() {
			settled = append(settled, last+" "+string(v.State()))
		}
	}
	if diff := cmp.Diff([]string{
		"3 r1:1 1-10 WAITING_FOR_INPUT", "6 r1:2 2-7 COMPLETED", "7 r1:2 2-7 COMPLETED", "9 r2:1 3-6 COMPLETED",
	}, settled); diff != "" {
		t.Errorf("settled after (-want +got):\n%s", diff)
	}

	v = view.New(nil)
	over := wire.StateChange{State: wire.Completed, RunID: "r1"}
	for i, f := range []wire.Frame{
		entry(0, wire.NoticeStateChange, over),
		entry(1, wire.EntryRunStarted, wire.RunStarted{RunID: "r1", StreamID: "r1:1", Segment: 1}),
		item(1, wire.ItemTextContent, wire.Delta{MessageID: "b", Delta: "Hm"}),
		item(2, wire.ItemStepFinished, wire.StepFinished{Step: 1}),
		entry(2, wire.EntryRunEnded, wire.RunEnded{RunID: "r1", StreamID: "r1:1", Segment: 1, Status: wire.SegmentFinished}),
	} {
		if err := v.Apply(f); err != nil {
			t.Fatal(err)
		}
		if v.Settled() != (i == 4) {
			t.Errorf("after frame %d: settled %v", i, v.Settled())
		}
	}

	// The record is ahead of the state, which is that of a run that never had a segment.
	v = view.New(nil)
	for i, f := range []wire.Frame{
		entry(0, wire.NoticeStateChange, wire.StateChange{
			State: wire.Cancelled, RunID: "r1", EnqueuedAt: moment(1), EndedAt: moment(2),
		}),
		entry(1, wire.EntryRunStarted, wire.RunStarted{RunID: "r2", StreamID: "r2:1", Segment: 1}),
		entry(2, wire.EntryRunEnded, wire.RunEnded{RunID: "r2", StreamID: "r2:1", Segment: 1, Status: wire.SegmentFinished}),
		entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.Completed, RunID: "r2"}),
	} {
		if err := v.Apply(f); err != nil {
			t.Fatal(err)
		}
		if v.Settled() != (i == 0 || i == 3) {
			t.Errorf("after frame %d of two runs: settled %v", i, v.Settled())
		}
	}

	// Of two runs, one ends its segment, and the other one is over without any. The newer one may have overtaken the
	// other.
	never := func(accepted, over int) wire.Frame {
		return entry(0, wire.NoticeStateChange, wire.StateChange{
			State: wire.Cancelled, RunID: "r2", EnqueuedAt: moment(accepted), StartedAt: moment(accepted), EndedAt: moment(over),
		})
	}
	began := entry(3, wire.EntryRunStarted,
		wire.RunStarted{RunID: "r3", StreamID: "r3:1", Segment: 1, EnqueuedAt: moment(2)})
	began.Event.CreatedAt = moment(4)
	ended := entry(4, wire.EntryRunEnded,
		wire.RunEnded{RunID: "r3", StreamID: "r3:1", Segment: 1, Status: wire.SegmentFinished})
	for name, c := range map[string]struct {
		frames []wire.Frame
		want   bool
	}{
		"one has ended, then the older one is over": {[]wire.Frame{began, ended, never(1, 6)}, true},
		"the same, and the state comes first":       {[]wire.Frame{never(1, 6), began, ended}, true},
		"the older one is over, then one has ended": {[]wire.Frame{never(1, 3), began, ended}, false},
		"the newer one is over, then one has ended": {[]wire.Frame{never(3, 3), began, ended}, false},
		"one has ended, then the newer one is over": {[]wire.Frame{began, ended, never(3, 6)}, true},
	} {
		v := view.New(nil)
		for _, f := range c.frames {
			if err := v.Apply(f); err != nil {
				t.Fatal(err)
			}
		}
		if v.Settled() != c.want {
			t.Errorf("%s: settled %v", name, v.Settled())
		}
	}

	for name, c := range map[string]struct {
		last wire.Frame
		want bool
	}{
		"the same state again": {entry(0, wire.NoticeStateChange, over), true},
		"the next run":         {entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.Queued, RunID: "r2"}), false},
		"the end of a next run": {
			entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.Completed, RunID: "r2"}), false,
		},
		"a next run that never began": {
			entry(0, wire.NoticeStateChange, wire.StateChange{
				State: wire.Cancelled, RunID: "r2", EnqueuedAt: moment(1), EndedAt: moment(2),
			}), true,
		},
	} {
		v := view.New(&wire.Snapshot{Thread: wire.Thread{ID: "t1", State: wire.Completed}, LastEventSeq: 2})
		for _, f := range []wire.Frame{entry(0, wire.NoticeStateChange, over), c.last} {
			if err := v.Apply(f); err != nil {
				t.Fatal(err)
			}
		}
		if v.Settled() != c.want {
			t.Errorf("%s: settled %v", name, v.Settled())
		}
	}
}

// A run that waits in a snapshot is stopped: it has no further segment.
func TestSettledAfterStop(t *testing.T) {
	t.Parallel()

	for _, state := range []wire.State{wire.WaitingForInput, wire.Queued} {
		v := view.New(&wire.Snapshot{
			Thread: wire.Thread{ID: "t1", State: state}, LastEventSeq: 3,
			Runs: []wire.Run{
				{ID: "r3", State: wire.Queued, EnqueuedAt: moment(3)},
				{ID: "r2", ParentID: "r1", State: state, EnqueuedAt: moment(2), StartedAt: moment(2)},
				{ID: "r1", State: state, EnqueuedAt: moment(1), StartedAt: moment(2)},
			},
		})
		for i, f := range []wire.Frame{
			entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.Cancelled, RunID: "r1"}),
			entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.Running, RunID: "r3", EnqueuedAt: moment(3)}),
		} {
			if err := v.Apply(f); err != nil {
				t.Fatal(err)
			}
			if v.Settled() != (i == 0) {
				t.Errorf("%s, after frame %d: settled %v", state, i, v.Settled())
			}
		}
	}
}

// The snapshot of a run has the stream of its last segment for a while after the end.
func TestSettledAfterCorrection(t *testing.T) {
	t.Parallel()

	turn := spool.MessageID("m1")
	of := func(state wire.State) *wire.Snapshot {
		return &wire.Snapshot{
			Thread: wire.Thread{ID: "t1", State: state}, LastEventSeq: 3,
			Messages: []spool.Message{{ID: turn, RunID: "r1", Role: spool.RoleUser}},
			Runs:     []wire.Run{{ID: "r1", State: state, EnqueuedAt: moment(1), StartedAt: moment(2)}},
		}
	}
	v := view.New(of(wire.WaitingForInput))
	corrected := of(wire.Cancelled)
	corrected.AfterMessageID, corrected.Messages = &turn, nil
	end := item(2, wire.ItemRunFinished, wire.StreamFinished{Status: wire.SegmentParked})
	corrected.Stream = &wire.StreamSnapshot{
		StreamID: "r1:1", RunID: "r1", Items: []wire.Item{
			*item(1, wire.ItemRunStarted, wire.StreamStarted{RunID: "r1"}).Item,
		}, End: end.Item,
	}
	for _, f := range []wire.Frame{
		entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.WaitingForInput, RunID: "r1"}),
		{Kind: wire.FrameSnapshot, Snapshot: corrected},
		entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.Cancelled, RunID: "r1"}),
	} {
		if err := v.Apply(f); err != nil {
			t.Fatal(err)
		}
		if !v.Settled() {
			t.Errorf("after %s %s: not settled", f.Kind, v.State())
		}
	}
}

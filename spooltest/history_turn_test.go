package spooltest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// soundTurns returns a history without a violation: a turn with its run, one whose run was
// stopped before it began, an edit of the first, and a turn that has waited. One client was
// there all the time, one has missed everything after the first run, and one was given a
// snapshot.
func soundTurns() *spooltest.History {
	entries := []*wire.Entry{
		started("r1"), ended("r1"),
		wire.NewEntry(wire.EntryMessagesDropped, "r3", wire.MessagesDropped{FromMessageID: "m1"}), started("r3"), ended("r3"),
		started("r4"), ended("r4"),
	}
	record := make([]wire.Entry, len(entries))
	for i, e := range entries {
		e.Seq, e.ThreadID = int64(i+1), "t"
		record[i] = *e
	}
	turn := func(id spool.MessageID, run spool.RunID, after int64) spool.Message {
		return spool.Message{
			ID: id, ThreadID: "t", Role: spool.RoleUser, Content: spool.TextContent(string(id)), RunID: run, AfterSeq: after,
		}
	}
	messages := []spool.Message{turn("m1", "r1", 0), turn("m2", "r2", 2), turn("m3", "r3", 3), turn("m4", "r4", 5)}

	entry := func(seq int) wire.Frame { return wire.Frame{Kind: wire.FrameThread, Event: &record[seq-1]} }
	says := func(nth int) wire.Frame { return noticeOf(wire.NoticeMessageAppended, messages[nth-1]) }
	live := []wire.Frame{
		state(wire.Queued, "r1"), says(1), entry(1), state(wire.Running, "r1"), entry(2), state(wire.Completed, "r1"),
		says(2), state(wire.Queued, "r2"), state(wire.Cancelled, "r2"),
		entry(3), says(3), state(wire.Queued, "r3"), entry(4), entry(5), state(wire.Completed, "r3"), says(4),
		state(wire.Running, "r4"), entry(6), entry(7), state(wire.Completed, "r4"),
	}
	back := slices.Concat(live[:5], []wire.Frame{
		state(wire.Completed, "r4"), says(2), entry(3), says(3), entry(4), entry(5), says(4), entry(6), entry(7),
	})
	cut := slices.Concat(live[:5], []wire.Frame{
		{Kind: wire.FrameSnapshot, Snapshot: &wire.Snapshot{
			Thread: wire.Thread{ID: "t", State: wire.Queued}, Messages: messages[2:], LastEventSeq: 5,
		}},
		state(wire.Running, "r4"), entry(6), only("r4:1", wire.ItemRunStarted, 1), only("r4:1", wire.ItemRunFinished, 2),
		entry(7), state(wire.Completed, "r4"),
	})

	commit := func(
		s wire.State, run spool.RunID, said []spool.Message, after spool.MessageID, entries ...wire.Entry,
	) spooltest.Commit {
		c := spooltest.Commit{Thread: historyKey, State: s, RunID: run, Messages: said, Entries: entries}
		if len(said) > 0 {
			c.After = []spool.MessageID{after}
		}
		return c
	}
	second := []spooltest.Connection{{}, {Frames: 5, Cursor: &wire.Cursor{Seq: 2}}}
	h := &spooltest.History{
		Settled: true,
		Threads: []spooltest.ThreadDump{{
			Thread:   wire.Thread{Tenant: "acme", ID: "t", State: wire.Completed, RunID: "r4", LastSeq: 7},
			Messages: messages[2:], Entries: record,
			Branches: []spooltest.BranchDump{{
				Branch: wire.Branch{ID: 3, FromMessageID: "m1", MessageCount: 2}, Messages: messages[:2],
			}},
		}},
		Commits: []spooltest.Commit{
			commit(wire.Queued, "r1", messages[:1], ""),
			commit(wire.Running, "r1", nil, "", record[0]),
			commit(wire.Completed, "r1", nil, "", record[1]),
			commit(wire.Queued, "r2", messages[1:2], "m1"),
			commit(wire.Cancelled, "r2", nil, ""),
			commit(wire.Queued, "r3", messages[2:3], "", record[2]),
			commit(wire.Running, "r3", nil, "", record[3]),
			commit(wire.Queued, "r4", messages[3:], "m3", record[4]),
			commit(wire.Running, "r4", nil, "", record[5]),
			commit(wire.Completed, "r4", nil, "", record[6]),
		},
		Clients: []*spooltest.Client{
			{Name: "live", Thread: historyKey, Frames: live, Connections: []spooltest.Connection{{}}},
			{Name: "back", Thread: historyKey, Frames: back, Connections: second},
			{Name: "cut", Thread: historyKey, Frames: cut, Connections: second},
		},
	}
	h.Commits[7].Runs = []store.RunRow{{Run: wire.Run{ID: "r3", State: wire.Completed}}}
	return h
}

func started(run spool.RunID) *wire.Entry {
	return wire.NewEntry(wire.EntryRunStarted, run,
		wire.RunStarted{RunID: run, StreamID: wire.NewStreamID(run, 1), Segment: 1})
}

func ended(run spool.RunID) *wire.Entry {
	return wire.NewEntry(wire.EntryRunEnded, run, wire.RunEnded{
		RunID: run, StreamID: wire.NewStreamID(run, 1), Segment: 1, Status: wire.SegmentFinished,
	})
}

// only returns an item of a stream.
func only(id wire.StreamID, t wire.ItemType, n int64) wire.Frame {
	item := wire.NewItem(t, wire.Offset{Fence: 1, N: n}, 0, nil)
	return wire.Frame{Kind: wire.FrameStream, StreamID: id, Item: &item}
}

func noticeOf(t wire.EntryType, payload any) wire.Frame {
	return wire.Frame{Kind: wire.FrameThread, Event: wire.NewEntry(t, "", payload)}
}

func state(s wire.State, run spool.RunID) wire.Frame {
	change := wire.StateChange{State: s, RunID: run}
	if s.Terminal() {
		change.EndedAt = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return noticeOf(wire.NoticeStateChange, change)
}

func TestHistorySoundTurns(t *testing.T) {
	t.Parallel()

	for _, v := range soundTurns().Violations() {
		t.Error(v)
	}
}

// TestHistoryPlantedTurns plants violations of the order of turns and states.
func TestHistoryPlantedTurns(t *testing.T) {
	t.Parallel()

	type history = spooltest.History
	frames := func(h *history, client int, change func(f []wire.Frame) []wire.Frame) {
		h.Clients[client].Frames = change(slices.Clone(h.Clients[client].Frames))
	}
	move := func(client, from, to int) func(h *history) {
		return func(h *history) {
			frames(h, client, func(f []wire.Frame) []wire.Frame {
				moved := f[from]
				return slices.Insert(slices.Delete(f, from, from+1), to, moved)
			})
		}
	}
	drop := func(client, at int) func(h *history) {
		return func(h *history) {
			frames(h, client, func(f []wire.Frame) []wire.Frame { return slices.Delete(f, at, at+1) })
		}
	}
	twice := func(client, at int) func(h *history) {
		return func(h *history) {
			frames(h, client, func(f []wire.Frame) []wire.Frame { return slices.Insert(f, at, f[at]) })
		}
	}
	const live, back, cut = 0, 1, 2
	for name, test := range map[string]struct {
		invariant, what string
		plant           func(h *history)
	}{
		"a turn after its run's start": {
			"turn-order", "turn m1 stands after seq 0, and comes after seq 1", move(live, 1, 2),
		},
		"a turn before what makes room for it": {
			"turn-order", "turn m3 stands after seq 3, and comes after seq 2", move(live, 10, 9),
		},
		"a turn before the end of a run": {
			"turn-order", "turn m4 stands after seq 5, and comes after seq 4", move(live, 15, 13),
		},
		"missed turns that come first": {
			"turn-order", "turn m4 stands after seq 5, and comes after seq 2", move(back, 11, 6),
		},
		"a turn that comes twice": {"turn-order", "turn m3 comes twice", twice(live, 10)},
		"a turn that nobody said": {"turn-order", "turn m9 was never said", func(h *history) {
			frames(h, live, func(f []wire.Frame) []wire.Frame {
				return append(f, noticeOf(wire.NoticeMessageAppended, spool.Message{ID: "m9", Role: spool.RoleUser}))
			})
		}},
		"turns in another order": {"turn-order", "turn m1 comes after m2", func(h *history) {
			h.Commits[3].Messages[0].AfterSeq = 0
			frames(h, live, func(f []wire.Frame) []wire.Frame {
				f[1], f[6] = f[6], f[1]
				return slices.Insert(f, 2, f[6])
			})
		}},
		"a turn before a snapshot": {"turn-order", "turn m2 comes before a snapshot that has it", func(h *history) {
			frames(h, cut, func(f []wire.Frame) []wire.Frame {
				return slices.Insert(f, 5, state(wire.Cancelled, "r2"), h.Clients[live].Frames[6])
			})
		}},
		"a dropped turn that is left out": {
			"turn-missing", "turn m2 stands after seq 2, and is not told before MESSAGES_DROPPED", drop(back, 6),
		},
		"a turn that is left out": {
			"turn-missing", "turn m4 stands after seq 5, and is not told before RUN_STARTED", drop(live, 15),
		},
		"a turn that is left out at the end": {"turn-missing", "not told before the end", func(h *history) {
			h.Commits[7].Messages[0].AfterSeq = 7
			drop(live, 15)(h)
		}},
		"a state that comes late": {"state-order", "the state QUEUED comes when", move(live, 7, 8)},
		"a state that is older than the last": {"state-order", "the state RUNNING comes when", func(h *history) {
			frames(h, back, func(f []wire.Frame) []wire.Frame { return append(f, state(wire.Running, "r4")) })
		}},
		"the end of a run after the next one's begin": {"state-order", "the state COMPLETED comes when", move(live, 14, 16)},
		"a state that is told twice":                  {"state-order", "the state CANCELLED is told twice", twice(live, 8)},
		"a state that is not the last one": {
			"state-order", "the last state that is told is RUNNING", drop(live, 19),
		},
		"a snapshot of an older state": {"state-order", "the state FAILED comes when", func(h *history) {
			snap := *h.Clients[cut].Frames[5].Snapshot
			snap.Thread.State = wire.Failed
			h.Clients[cut].Frames[5].Snapshot = &snap
		}},
		"a branch that is not shown": {"branch-shown", "a turn comes after seq 3", func(h *history) {
			h.Clients[back].Frames[7].Event.Type = wire.EntryMessagesRestored
		}},
		"a branch that is not shown at the end": {"branch-shown", "the end comes after seq 7", func(h *history) {
			h.Clients[back].Frames[13].Event.Type = wire.EntryMessagesRestored
		}},
		"a connection without a state":       {"state-first", "does not begin with the state", drop(back, 5)},
		"a snapshot without a state":         {"state-first", "does not begin with the state", drop(cut, 6)},
		"a first connection without a state": {"state-first", "does not begin with the state", drop(live, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := soundTurns()
			test.plant(h)
			found := h.Violations()
			if !slices.ContainsFunc(found, func(v spooltest.Violation) bool {
				return v.Invariant == test.invariant && strings.Contains(v.What, test.what)
			}) {
				t.Errorf("no %s with %q was reported, but %v", test.invariant, test.what, found)
			}
		})
	}
}

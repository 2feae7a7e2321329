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

// soundSteers returns a history without a violation: a run r with a call, into which two steers are put after the
// call's result, a steer that was withdrawn, and one that became a run of its own. A client followed from the start.
func soundSteers() *spooltest.History {
	after := func(n int64) wire.Offset { return wire.Offset{Fence: 1, N: n} }
	steered := func(steer spool.RunID, id spool.MessageID) *wire.Entry {
		e := wire.NewEntry(wire.EntrySteered, "r", wire.Steered{RunID: "r", SteerRunID: steer, MessageID: id, Steps: 1})
		e.Stream, e.After = "r:1", after(2)
		return e
	}
	entries := []*wire.Entry{
		started("r"), steered("s1", "m4"), steered("s2", "m5"), ended("r"), started("s4"), ended("s4"),
	}
	record := make([]wire.Entry, len(entries))
	for i, e := range entries {
		e.Seq, e.ThreadID = int64(i+1), "t"
		record[i] = *e
	}
	said := func(id spool.MessageID, run spool.RunID, seq int64) spool.Message {
		return spool.Message{
			ID: id, ThreadID: "t", Role: spool.RoleUser, Content: spool.TextContent(string(id)), RunID: run, AfterSeq: seq,
		}
	}
	messages := []spool.Message{
		said("m1", "r", 0),
		{
			ID: "m2", Role: spool.RoleAssistant, RunID: "r", AfterSeq: 1,
			Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "c"}},
		},
		{
			ID: "m3", Role: spool.RoleTool, RunID: "r", AfterSeq: 1,
			Content: spool.Content{{Type: spool.PartToolResult, ToolCallID: "c"}},
		},
		said("m4", "r", 1), said("m5", "r", 2), said("m6", "s4", 4),
	}
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	run := func(id spool.RunID, state wire.State, reason wire.StopReason, position int64) store.RunRow {
		r := store.RunRow{
			Run: wire.Run{Tenant: "acme", ID: id, ThreadID: "t", State: state, StopReason: reason, QueuePosition: position},
		}
		if id != "r" {
			r.Wait = &store.Wait{WhenBusy: spool.BusySteer, Content: spool.TextContent(string(id)), Steers: "r"}
		}
		if state.Terminal() {
			r.EndedAt = at
		}
		if id == "r" || id == "s4" && state == wire.Completed {
			r.Segments = 1
		}
		return r
	}
	delivered := func(id spool.RunID, message spool.MessageID) store.RunRow {
		r := run(id, wire.Completed, wire.StopSteered, 0)
		r.Wait.Delivered = &wire.Delivered{RunID: "r", MessageID: message}
		return r
	}
	item := func(t wire.ItemType, n int64) wire.Frame {
		i := wire.NewItem(t, after(n), 0, nil)
		return wire.Frame{Kind: wire.FrameStream, StreamID: "r:1", Item: &i}
	}
	entry := func(seq int) wire.Frame { return wire.Frame{Kind: wire.FrameThread, Event: &record[seq-1]} }
	says := func(nth int) wire.Frame { return noticeOf(wire.NoticeMessageAppended, messages[nth-1]) }
	frames := []wire.Frame{
		state(wire.Queued, "r"), says(1), entry(1), item(wire.ItemRunStarted, 1), item(wire.ItemStepFinished, 2),
		says(4), entry(2), says(5), entry(3), item(wire.ItemRunFinished, 3), entry(4),
		state(wire.Completed, "r"), says(6), entry(5),
		only("s4:1", wire.ItemRunStarted, 1), only("s4:1", wire.ItemRunFinished, 2), entry(6), state(wire.Completed, "s4"),
	}
	commit := func(s wire.State, of spool.RunID, runs ...store.RunRow) spooltest.Commit {
		return spooltest.Commit{Thread: historyKey, State: s, RunID: of, Runs: runs}
	}
	commits := []spooltest.Commit{
		commit(wire.Queued, "r", run("r", wire.Queued, "", 0)),
		commit(wire.Running, "r", run("r", wire.Running, "", 0)),
		commit(wire.Running, "r", run("s1", wire.Queued, "", 1), run("s2", wire.Queued, "", 2)),
		commit(wire.Running, "r", run("s3", wire.Queued, "", 3), run("s4", wire.Queued, "", 4)),
		commit(wire.Running, "r", run("s3", wire.Cancelled, wire.StopCancelled, 0)),
		commit(wire.Running, "r"),
		commit(wire.Running, "r", delivered("s1", "m4"), delivered("s2", "m5")),
		commit(wire.Queued, "s4", run("r", wire.Completed, wire.StopCompleted, 0), run("s4", wire.Queued, "", 0)),
		commit(wire.Completed, "s4", run("s4", wire.Completed, wire.StopCompleted, 0)),
	}
	commits[0].Jobs = []wire.Job{{Tenant: "acme", ThreadID: "t", RunID: "r"}}
	commits[7].Jobs = []wire.Job{{Tenant: "acme", ThreadID: "t", RunID: "s4"}}
	for i, of := range map[int][2]int{0: {0, 1}, 5: {1, 3}, 6: {3, 5}, 7: {5, 6}} {
		commits[i].Messages = slices.Clone(messages[of[0]:of[1]])
		for n := of[0]; n < of[1]; n++ {
			before := spool.MessageID("")
			if n > 0 {
				before = messages[n-1].ID
			}
			commits[i].After = append(commits[i].After, before)
		}
	}
	commits[6].Fence, commits[6].FenceAfter, commits[7].FenceAfter, commits[8].FenceAfter = 1, 1, 1, 1
	for i, of := range map[int][2]int{1: {0, 1}, 6: {1, 3}, 7: {3, 4}, 8: {4, 6}} {
		commits[i].Entries = slices.Clone(record[of[0]:of[1]])
	}
	return &spooltest.History{
		Settled: true,
		Threads: []spooltest.ThreadDump{{
			Thread:   wire.Thread{Tenant: "acme", ID: "t", State: wire.Completed, RunID: "s4", LastSeq: 6},
			Messages: messages, Entries: record,
			Runs: []store.RunRow{
				run("r", wire.Completed, wire.StopCompleted, 0), delivered("s1", "m4"), delivered("s2", "m5"),
				run("s3", wire.Cancelled, wire.StopCancelled, 0), run("s4", wire.Completed, wire.StopCompleted, 0),
			},
		}},
		Commits: commits,
		Starts:  []spooltest.Started{{Thread: historyKey, Run: "s1"}, {Thread: historyKey, Run: "s2"}},
		Clients: []*spooltest.Client{
			{Name: "live", Thread: historyKey, Frames: frames, Connections: []spooltest.Connection{{}}},
		},
	}
}

func TestHistorySoundSteers(t *testing.T) {
	t.Parallel()

	for _, v := range soundSteers().Violations() {
		t.Error(v)
	}
}

// cutSteer ends the connection of the client of soundSteers between the message m4, whose entry did not wait for the
// items before it any more, and that entry. The items come on the next connection.
func cutSteer(h *spooltest.History) {
	client := h.Clients[0]
	f := client.Frames
	client.Frames = slices.Concat(f[:4], f[5:6], []wire.Frame{state(wire.Running, "r")}, f[4:])
	client.Connections = append(client.Connections, spooltest.Connection{
		Frames: 5, Cursor: &wire.Cursor{Seq: 1, Stream: "r:1", Offset: wire.Offset{Fence: 1, N: 1}},
	})
}

func TestHistorySteerBeforeLateItems(t *testing.T) {
	t.Parallel()

	h := soundSteers()
	cutSteer(h)
	for _, v := range h.Violations() {
		t.Error(v)
	}
}

// TestHistoryPlantedSteers plants violations of the rules about steers.
func TestHistoryPlantedSteers(t *testing.T) {
	t.Parallel()

	type history = spooltest.History
	for name, test := range map[string]struct {
		invariant, what string
		plant           func(h *history)
	}{
		"a steer that is delivered twice": {"steer-once", "2 deliveries of steer s1", func(h *history) {
			h.Threads[0].Entries[2].Payload = h.Threads[0].Entries[1].Payload
		}},
		"a steer that is delivered and not told": {"steer-once", "0 deliveries of steer s1", func(h *history) {
			h.Threads[0].Entries[1].Type = "OTHER"
		}},
		"a steer that is delivered and has a turn": {
			"steer-once", "steer s1 was put into a run, and has a turn of its own",
			func(h *history) {
				h.Threads[0].Messages[5].RunID = "s1"
			},
		},
		"a steer that is lost": {"steer-lost", "steer s4 is COMPLETED, and its message is nowhere", func(h *history) {
			h.Threads[0].Messages[5].RunID = "r"
		}},
		"a message that is not there": {"steer", "seq 2 tells of the message m9", func(h *history) {
			h.Threads[0].Entries[1].Payload = wire.NewEntry(wire.EntrySteered, "r",
				wire.Steered{RunID: "r", SteerRunID: "s1", MessageID: "m9"}).Payload
		}},
		"a message at another place": {
			"steer", "seq 3 tells of the message m5", func(h *history) { h.Threads[0].Messages[4].AfterSeq = 1 },
		},
		"a steer into itself": {"steer", "puts steer s1 into run s1", func(h *history) {
			h.Threads[0].Entries[1].Payload = wire.NewEntry(wire.EntrySteered, "r",
				wire.Steered{RunID: "s1", SteerRunID: "s1", MessageID: "m4"}).Payload
		}},
		"a steer that still ends otherwise": {"steer", "takes the message of run s1, which is CANCELLED", func(h *history) {
			h.Threads[0].Runs[1].State = wire.Cancelled
		}},
		"a steer that does not say where it is": {"steer", "takes the message of run s2, which says", func(h *history) {
			h.Threads[0].Runs[2].Wait.Delivered.MessageID = "m4"
		}},
		"a message between a call and its result": {
			"steer-place",
			"message m4 of a steer stands between call c and its result", func(h *history) {
				m := h.Threads[0].Messages
				m[2], m[3] = m[3], m[2]
			},
		},
		"steers in another order": {"steer-order", "delivers steer s2, with position 1, after position 2", func(h *history) {
			h.Commits[2].Runs[0].QueuePosition, h.Commits[2].Runs[1].QueuePosition = 2, 1
		}},
		"a steer before an earlier one": {"steer-order", "delivers a steer before run s4", func(h *history) {
			h.Commits[3].Runs[1].QueuePosition = 1
			h.Commits[2].Runs[0].QueuePosition = 2
			h.Commits[2].Runs[1].QueuePosition = 3
		}},
		"a steer into a stopped run": {"steer", "puts steer s1 into run r, which is RUNNING", func(h *history) {
			h.Commits[5].Runs = []store.RunRow{
				{Run: wire.Run{ID: "r", State: wire.Running}, RunState: store.RunState{StopAt: time.Now()}},
			}
		}},
		"a steer that nobody with a lease delivers": {
			"steer", "puts steer s1 into run r, which is", func(h *history) { h.Commits[6].Fence = 0 },
		},
		"a half of a steer": {
			"steer", "puts only a part of steer s2", func(h *history) { h.Commits[6].Messages = h.Commits[6].Messages[:1] },
		},
		"a message before the step": {
			"steer-place",
			"item 1-2 of r:1 comes, message m4 of a steer after 1-2, and it was told: true", func(h *history) {
				f := h.Clients[0].Frames
				f[4], f[5] = f[5], f[4]
			},
		},
		"a message before the step, before the connection ends": {
			"steer-place",
			"item 1-2 of r:1 comes, message m4 of a steer after 1-2, and it was told: true", func(h *history) {
				cutSteer(h)
				h.Clients[0].Connections[1].Frames = 7
				h.Clients[0].Frames[5], h.Clients[0].Frames[6] = h.Clients[0].Frames[6], h.Clients[0].Frames[5]
			},
		},
		"a message before the step, on the next connection": {
			"steer-place",
			"item 1-2 of r:1 comes, message m4 of a steer after 1-2, and it was told: true", func(h *history) {
				cutSteer(h)
				f := h.Clients[0].Frames
				f[6], f[7] = f[7], f[6]
			},
		},
		"a message behind the next step": {
			"steer-place",
			"item 1-3 of r:1 comes, message m4 of a steer after 1-2, and it was told: false", func(h *history) {
				f := h.Clients[0].Frames
				h.Clients[0].Frames = slices.Concat(f[:5], f[9:10], f[5:9], f[10:])
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := soundSteers()
			test.plant(h)
			found := h.Violations()
			if !slices.ContainsFunc(found, func(v spooltest.Violation) bool {
				return v.Invariant == test.invariant && strings.Contains(v.What, test.what)
			}) {
				t.Errorf("no violation of %q with %q: %v", test.invariant, test.what, found)
			}
		})
	}
}

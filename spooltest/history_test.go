package spooltest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var historyKey = spool.ThreadKey{Tenant: "acme", ID: "t"}

// sound returns a history without a violation: a run of two segments with an approval,
// and two clients, one of which was cut off and got a snapshot.
func sound() *spooltest.History {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	run := store.RunRow{Run: wire.Run{
		Tenant: "acme", ID: "r", ThreadID: "t", State: wire.Completed, StopReason: wire.StopCompleted,
		EndedAt: at, Segments: 2, TokenCount: spool.TokenCount{InputTokens: 3, OutputTokens: 2, TotalTokens: 5},
		CostMicros: 8, Currency: "USD",
		Allowance: &wire.Allowance{Budget: spool.Budget{Tokens: 5}, Spent: wire.Spent{Tokens: 5, CostMicros: 8}},
	}}
	entries := []*wire.Entry{
		wire.NewEntry(wire.EntryRunStarted, "r", wire.RunStarted{RunID: "r", StreamID: "r:1", Segment: 1}),
		wire.NewEntry(wire.EntryInputRequired, "r", wire.InputRequired{ToolCallID: "c", Reason: wire.ParkApproval}),
		wire.NewEntry(wire.EntryRunEnded, "r",
			wire.RunEnded{RunID: "r", StreamID: "r:1", Segment: 1, Status: wire.SegmentParked}),
		wire.NewEntry(wire.EntryHITLResponse, "r", wire.HITLResponse{ToolCallID: "c", Approved: true}),
		wire.NewEntry(wire.EntryRunStarted, "r", wire.RunStarted{RunID: "r", StreamID: "r:2", Segment: 2}),
		wire.NewEntry(wire.EntryRunEnded, "r",
			wire.RunEnded{RunID: "r", StreamID: "r:2", Segment: 2, Status: wire.SegmentFinished}),
	}
	record := make([]wire.Entry, len(entries))
	for i, e := range entries {
		e.Seq, e.ThreadID = int64(i+1), "t"
		record[i] = *e
	}
	messages := []spool.Message{
		{ID: "m1", Role: spool.RoleUser, Content: spool.TextContent("go"), RunID: "r"},
		{ID: "m2", Role: spool.RoleAssistant, RunID: "r", Content: spool.Content{
			{Type: spool.PartReasoning, Text: "hm"},
			{Type: spool.PartText, Text: "one"},
			{Type: spool.PartToolCall, ToolCallID: "c", ToolName: "send", Args: json.RawMessage(`{}`)},
		}},
		{
			ID: "m3", Role: spool.RoleTool, RunID: "r",
			Content: spool.Content{{Type: spool.PartToolResult, ToolCallID: "c", Result: json.RawMessage(`1`)}},
		},
		{ID: "m4", Role: spool.RoleAssistant, RunID: "r", Content: spool.TextContent("two")},
	}
	after := []spool.MessageID{"", "m1", "m2", "m3"}
	item := func(stream wire.StreamID, fence, n int64, t wire.ItemType, payload any) wire.Frame {
		i := wire.NewItem(t, wire.Offset{Fence: fence, N: n}, 0, payload)
		return wire.Frame{Kind: wire.FrameStream, StreamID: stream, Item: &i}
	}
	entry := func(seq int) wire.Frame { return wire.Frame{Kind: wire.FrameThread, Event: &record[seq-1]} }
	live := []wire.Frame{
		entry(1),
		item("r:1", 1, 1, wire.ItemRunStarted, nil),
		item("r:1", 1, 2, wire.ItemReasoningContent, wire.Delta{Delta: "hm"}),
		item("r:1", 1, 3, wire.ItemTextContent, wire.Delta{Delta: "one"}),
		item("r:1", 1, 4, wire.ItemToolStart, wire.ToolStarted{ToolCallID: "c", ToolName: "send"}),
		item("r:1", 1, 5, wire.ItemStepFinished, nil),
		entry(2),
		item("r:1", 1, 6, wire.ItemInputRequired, nil),
		item("r:1", 1, 7, wire.ItemRunFinished, nil),
		entry(3), entry(4), entry(5),
		item("r:2", 2, 1, wire.ItemRunStarted, nil),
		item("r:2", 2, 2, wire.ItemToolResult, wire.ToolResulted{ToolCallID: "c", Result: json.RawMessage(`1`)}),
		item("r:2", 2, 3, wire.ItemStepFinished, nil),
		item("r:2", 2, 4, wire.ItemTextContent, wire.Delta{Delta: "two"}),
		item("r:2", 2, 5, wire.ItemStepFinished, nil),
		item("r:2", 2, 6, wire.ItemRunFinished, wire.StreamFinished{Usage: &run.TokenCount, Costs: run.Costs()}),
		entry(6),
	}
	last := wire.Offset{Fence: 2, N: 3}
	cut := slices.Concat(live[:3], []wire.Frame{{Kind: wire.FrameSnapshot, Snapshot: &wire.Snapshot{
		Thread: wire.Thread{ID: "t"}, Messages: messages[:3], Runs: []wire.Run{run.Run}, LastEventSeq: 5,
		Stream: &wire.StreamSnapshot{StreamID: "r:2", RunID: "r", Offset: &last},
	}}}, live[15:])

	state := func(s wire.State) store.RunRow {
		r := run
		r.State = s
		return r
	}
	used := int64(3)
	wrote := int64(2)
	return &spooltest.History{
		Settled: true,
		Threads: []spooltest.ThreadDump{{
			Thread: wire.Thread{Tenant: "acme", ID: "t", State: wire.Completed, RunID: "r", LastSeq: 6},
			Runs:   []store.RunRow{run}, Messages: messages, Entries: record,
			Parks: []store.Park{{RunID: "r", ToolCallID: "c", State: wire.ParkAnswered, Landed: true}},
			Usage: []wire.UsageLine{{InputTokens: 3, OutputTokens: 2, Calls: 1, Currency: "USD", CostMicros: 8}},
		}},
		Commits: []spooltest.Commit{
			{
				Thread: historyKey, Runs: []store.RunRow{state(wire.Queued)}, Messages: messages[:1], After: after[:1],
				Jobs: []wire.Job{{RunID: "r"}},
			},
			{Thread: historyKey, FenceAfter: 1, Runs: []store.RunRow{state(wire.Running)}, Entries: record[:1]},
			{
				Thread: historyKey, Fence: 1, FenceAfter: 1, Runs: []store.RunRow{state(wire.WaitingForInput)},
				Messages: messages[1:2], After: after[1:2], Entries: record[1:3],
			},
			{Thread: historyKey, FenceAfter: 1, Entries: record[3:4]},
			{Thread: historyKey, FenceAfter: 2, Runs: []store.RunRow{state(wire.Running)}, Entries: record[4:5]},
			{
				Thread: historyKey, Fence: 2, FenceAfter: 2, Runs: []store.RunRow{run}, Messages: messages[2:], After: after[2:],
				Entries: record[5:], Usage: []wire.UsageRow{
					{
						RunID: "r", Outcome: wire.OutcomeFinished, Usage: spool.Usage{Input: &used, Output: &wrote},
						Cost: &spool.Cost{Micros: 8, Currency: "USD"},
					},
				},
			},
		},
		Clients: []*spooltest.Client{
			{Name: "live", Thread: historyKey, FromStart: true, Frames: live},
			{Name: "cut", Thread: historyKey, FromStart: true, Frames: cut},
		},
		Executions: []spooltest.Execution{{Call: spool.ToolCall{Thread: historyKey, RunID: "r", Step: 1, ID: "c"}}},
		Answers:    []spooltest.Answered{{Thread: historyKey, Call: "c", Delivered: true}, {Thread: historyKey, Call: "c"}},
		Starts:     []spooltest.Started{{Thread: historyKey, Run: "r"}},
	}
}

// allow has a run of a history go on with a budget, and with calls under way.
func allow(h *spooltest.History, b spool.Budget) {
	h.Bounded = true
	r := h.Commits[4].Runs[0]
	r.Allowance = &wire.Allowance{
		Budget: b, Spent: wire.Spent{Tokens: 5, CostMicros: 6, ToolCalls: 2},
		Reservations: []wire.Reservation{{Tokens: 1, CostMicros: 1}, {Tokens: 2, CostMicros: 2}},
	}
	h.Commits[4].Runs[0] = r
}

// summaryOf returns a summary of the messages up to one.
func summaryOf(through spool.MessageID) spool.Message {
	return spool.Message{ID: "s", Role: spool.RoleSystem, RunID: "r", Content: spool.Content{
		{Type: spool.PartSummary, Text: "in short", ThroughMessageID: through},
	}}
}

func TestHistorySound(t *testing.T) {
	t.Parallel()

	for _, v := range sound().Violations() {
		t.Error(v)
	}
}

// TestHistoryPlanted plants one violation of each kind and more, and looks for its
// report.
func TestHistoryPlanted(t *testing.T) {
	t.Parallel()

	type history = spooltest.History
	frames := func(h *history, change func(frames []wire.Frame) []wire.Frame) {
		h.Clients[0].Frames = change(slices.Clone(h.Clients[0].Frames))
	}
	for name, test := range map[string]struct {
		invariant, what string
		plant           func(h *history)
	}{
		"a summary of nothing": {"summary", "which is not before it", func(h *history) {
			h.Threads[0].Messages = slices.Insert(slices.Clone(h.Threads[0].Messages), 1, summaryOf("m2"))
		}},
		"a summary of another's messages": {"summary", "another agent's", func(h *history) {
			m := summaryOf("m4")
			m.AgentID = "r2"
			h.Threads[0].Messages = append(slices.Clone(h.Threads[0].Messages), m)
		}},
		"a summary that nothing tells of": {"summary", "without the other", func(h *history) {
			h.Commits[4].Messages = []spool.Message{summaryOf("m3")}
		}},
		"a summary that is not there": {"summary", "without the other", func(h *history) {
			h.Commits[4].Entries = append(slices.Clone(h.Commits[4].Entries),
				*wire.NewEntry(wire.EntryContextCompacted, "r", wire.ContextCompacted{SummarizedMessages: 3, MessageID: "s"}))
		}},
		"a gap": {
			"seq-gap", "has seq 3", func(h *history) { h.Threads[0].Entries = slices.Delete(h.Threads[0].Entries, 1, 2) },
		},
		"a repeat": {"seq-gap", "has seq 1", func(h *history) {
			h.Threads[0].Entries = slices.Insert(h.Threads[0].Entries, 1, h.Threads[0].Entries[0])
		}},
		"a last seq that is not": {"seq-gap", "its last seq is 7", func(h *history) { h.Threads[0].Thread.LastSeq = 7 }},
		"two open segments": {"segment-pairs", "while r:1 is open", func(h *history) {
			h.Threads[0].Entries[2].Type = wire.EntryRunRefused
		}},
		"an end of nothing": {"segment-pairs", "which is not open", func(h *history) {
			h.Threads[0].Entries[0].Type = wire.EntryRunRefused
		}},
		"a segment that never ends": {"segment-pairs", "was never ended", func(h *history) {
			h.Threads[0].Entries[5].Type = wire.EntryRunRefused
		}},
		"a segment left out": {"segment-numbers", "after segment 0", func(h *history) {
			h.Threads[0].Entries[0].Payload = json.RawMessage(`{"runId":"r","streamId":"r:2","segment":2}`)
		}},
		"a segment without a word": {
			"segment-numbers", "has had 3 segments", func(h *history) { h.Threads[0].Runs[0].Segments = 3 },
		},
		"two active runs": {"one-active", "2 active runs", func(h *history) { h.Threads[0].Runs = twoActive(h) }},
		"two active runs for a while": {"one-active", "leaves 2 active runs", func(h *history) {
			other := h.Commits[0].Runs[0]
			other.ID = "r0"
			h.Commits[1].Runs = append(h.Commits[1].Runs, other)
		}},
		"a state of its own": {
			"one-active", "the thread is FAILED", func(h *history) { h.Threads[0].Thread.State = wire.Failed },
		},
		"a run that hangs": {"end-state", "is still RUNNING", func(h *history) {
			h.Threads[0].Runs[0].State, h.Threads[0].Thread.State = wire.Running, wire.Running
		}},
		"a run that is gone": {"end-state", "is not there", func(h *history) { h.Starts[0].Run = "other" }},
		"an end without a reason": {
			"end-state", "without a time or a reason", func(h *history) { h.Threads[0].Runs[0].StopReason = "" },
		},
		"an entry after the end": {
			"after-end", "adds the entry",
			func(h *history) { h.Commits = append(h.Commits, late(h, h.Threads[0].Entries[:1], nil)) },
		},
		"a message after the end": {
			"after-end", "adds a message",
			func(h *history) { h.Commits = append(h.Commits, late(h, nil, h.Threads[0].Messages[3:])) },
		},
		"a change that is not allowed": {
			"transition", "from QUEUED to WAITING_FOR_INPUT", func(h *history) { h.Commits = slices.Delete(h.Commits, 1, 2) },
		},
		"an old lease":       {"fence", "has the fence 1", func(h *history) { h.Commits[5].Fence = 1 }},
		"a fence that falls": {"fence", "takes the fence from 1 to 0", func(h *history) { h.Commits[3].FenceAfter = 0 }},
		"two effects": {
			"effect-once", "2 times", func(h *history) { h.Executions = append(h.Executions, h.Executions[0]) },
		},
		"two results": {"tool-result", "has two results", func(h *history) {
			h.Threads[0].Messages = append(h.Threads[0].Messages, h.Threads[0].Messages[2])
		}},
		"a call without a result": {
			"tool-result", "has no result",
			func(h *history) { h.Threads[0].Messages = slices.Delete(h.Threads[0].Messages, 2, 3) },
		},
		"a park that is left": {"park", "is open", func(h *history) {
			h.Threads[0].Parks[0] = store.Park{RunID: "r", ToolCallID: "c", State: wire.ParkOpen}
		}},
		"an answer applied twice": {"answer-once", "is not open", func(h *history) {
			h.Threads[0].Entries[4] = h.Threads[0].Entries[3]
		}},
		"a call that nobody approved": {"approved", "which nobody has approved", func(h *history) {
			h.Threads[0].Entries[3] = *wire.NewEntry(wire.EntryHITLResponse, "r", wire.HITLResponse{ToolCallID: "c"})
			h.Threads[0].Entries[3].Seq = 4
		}},
		"a call with other arguments": {"approved", `ran with {"to":"eve"}`, func(h *history) {
			approve(h, `{"to":"bob"}`)
			h.Executions[0].Call.Args = json.RawMessage(`{"to":"eve"}`)
		}},
		"an answer to something else": {"approved", "which is not what was asked", func(h *history) {
			approve(h, `{"to":"bob"}`)
			h.Executions[0].Call.Args = json.RawMessage(`{"to":"bob"}`)
			h.Threads[0].Entries[1].Payload = json.RawMessage(`{"toolCallId":"c","reason":"approval","digest":"sha256:0"}`)
		}},
		"an answer of who asked": {"approved", `"ann" to a run that "ann"`, func(h *history) {
			h.Threads[0].Runs[0].StartedBy = "ann"
			h.Threads[0].Entries[1].Payload = json.RawMessage(`{"toolCallId":"c","reason":"approval","distinctApprover":true}`)
			h.Threads[0].Entries[3].Payload = json.RawMessage(`{"toolCallId":"c","approved":true,"answeredBy":"ann"}`)
		}},
		"a park that ends too soon": {"expiry", "before 2030", func(h *history) { expire(h, "", time.Hour) }},
		"a run that has failed and goes on": {
			"expiry", "goes on with run r", func(h *history) { expire(h, spool.ExpireFail, 0) },
		},
		"a run that has failed and completes": {
			"expiry", "has completed", func(h *history) { expire(h, spool.ExpireFail, 0) },
		},
		"a run without its mark": {"expiry", "run r has the mark {0 0001", func(h *history) { expire(h, "", 0) }},
		"an end without the mark": {"expiry", "ends run r with the mark {0 0001", func(h *history) {
			expire(h, "", 0)
			h.Threads[0].Runs[0].Expired = wire.Expired{Questions: 1, Since: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
		}},
		"a thread with another mark": {"expiry", "the thread has the mark {3 ", func(h *history) {
			h.Threads[0].Thread.RunID, h.Threads[0].Thread.Expired = "r", wire.Expired{Questions: 3}
		}},
		"two warnings": {"expiry", "warns of c once more", func(h *history) {
			warning := *wire.NewEntry(wire.EntryInputExpiring, "r", wire.InputExpiring{ToolCallID: "c"})
			h.Threads[0].Entries = slices.Insert(h.Threads[0].Entries, 2, warning, warning)
		}},
		"more time without the question": {"asks-again", "stands between more time for c and its question", func(h *history) {
			extended := *wire.NewEntry(wire.EntryInputExtended, "r", wire.InputExtended{ToolCallID: "c"})
			h.Threads[0].Entries = slices.Insert(h.Threads[0].Entries, 2, extended)
		}},
		"a question that is asked twice": {"answer-once", "asks for c, which is open", func(h *history) {
			h.Threads[0].Entries = slices.Insert(h.Threads[0].Entries, 2, h.Threads[0].Entries[1])
		}},
		"more time for what is over": {"answer-once", "an INPUT_EXTENDED, is about c", func(h *history) {
			h.Threads[0].Entries = append(h.Threads[0].Entries,
				*wire.NewEntry(wire.EntryInputExtended, "r", wire.InputExtended{ToolCallID: "c"}))
		}},
		"an answer that got lost": {
			"answer-once", "2 answers were delivered", func(h *history) { h.Answers[1].Delivered = true },
		},
		"an answer from nowhere": {
			"answer-once", "0 answers were delivered", func(h *history) { h.Answers[0].Delivered = false },
		},
		"usage that is not counted": {"usage", "counts", func(h *history) { h.Threads[0].Runs[0].TotalTokens = 4 }},
		"usage that is not summed": {
			"usage", "the ledger sums up to", func(h *history) { h.Threads[0].Usage[0].Calls = 2 },
		},
		"a cost that is not summed": {
			"usage", "the ledger sums up to", func(h *history) { h.Threads[0].Usage[0].CostMicros++ },
		},
		"a cost that is not the run's": {
			"usage", "run r cost 0 USD, and its ledger rows {Currency:USD Micros:8}",
			func(h *history) { h.Threads[0].Runs[0].CostMicros = 0 },
		},
		"a run of two currencies": {"usage", "is priced in USD and in EUR", func(h *history) {
			h.Commits[5].Usage = append(h.Commits[5].Usage, wire.UsageRow{RunID: "r", Cost: &spool.Cost{Currency: "EUR"}})
		}},
		"a bill that is not the run's": {
			"usage", "run r ends with", func(h *history) { h.Threads[0].Runs[0].OutputTokens++ },
		},
		"a budget that has missed a call": {
			"budget", "run r has spent {Tokens:4", func(h *history) { h.Threads[0].Runs[0].Allowance.Spent.Tokens = 4 },
		},
		"a reservation that is never freed": {"budget", "has ended and holds", func(h *history) {
			h.Threads[0].Runs[0].Allowance.Reservations = []wire.Reservation{{Tokens: 1}}
		}},
		"a budget that is overspent": {"budget", "commit 4 leaves run r with 8 of 7 tokens", func(h *history) {
			allow(h, spool.Budget{Tokens: 7})
		}},
		"a budget of cost that is overspent": {"budget", "commit 4 leaves run r with 9 of 8 millionths", func(h *history) {
			allow(h, spool.Budget{CostMicros: 8})
		}},
		"a budget of tool calls that is overspent": {
			"budget", "commit 4 leaves run r with 2 of 1 tool calls",
			func(h *history) {
				allow(h, spool.Budget{ToolCalls: 1})
			},
		},
		"a run that waits for ever": {
			"end-state", "still waits", func(h *history) { h.Threads[0].Runs = append(h.Threads[0].Runs, waiting(h, "r1", 1)) },
		},
		"a run that waits for none": {"waiting", "waits for a thread that is COMPLETED", func(h *history) {
			h.Threads[0].Runs = append(h.Threads[0].Runs, waiting(h, "r1", 1))
		}},
		"a run that is left behind": {"waiting", "leaves 1 runs waiting for none", func(h *history) {
			h.Commits[5].Runs = append(h.Commits[5].Runs, waiting(h, "r1", 1))
		}},
		"a run that waits and has begun": {"waiting", "waits and has begun", func(h *history) {
			r := waiting(h, "r1", 1)
			r.Segments = 1
			h.Threads[0].Thread.State = wire.Running
			h.Threads[0].Runs = append(h.Threads[0].Runs, r)
		}},
		"a turn that is said too early": {"waiting", "and its message m1 is there", func(h *history) {
			h.Threads[0].Runs = append(h.Threads[0].Runs, waiting(h, "r", 1))
		}},
		"a run that goes out of turn": {"waiting-order", "gives the thread to run r2 before r1", func(h *history) {
			h.Commits[1].Runs = append(h.Commits[1].Runs, waiting(h, "r1", 1), waiting(h, "r2", 2))
			h.Commits[5].Runs = append(h.Commits[5].Runs, waiting(h, "r2", 0))
		}},
		"a stop without effect": {"stop", "no run was cancelled", func(h *history) { h.Stopped(historyKey) }},
		"a stop that is overtaken": {"stop", "ended as COMPLETED", func(h *history) {
			h.Commits[1].Runs[0].StopAt = time.Now()
			h.Commits[2].Runs[0].StopAt = time.Now()
			h.Commits[4].Runs[0].StopAt = time.Now()
		}},

		"a message that is lost": {
			"messages-kept", "message m4 is gone", func(h *history) { h.Threads[0].Messages = h.Threads[0].Messages[:3] },
		},
		"a message that is there twice": {"messages-kept", "message m4 is there 2 times", func(h *history) {
			h.Threads[0].Branches = []spooltest.BranchDump{branched(h, "m3", 3)}
		}},
		"a message from nowhere": {"messages-kept", "message m5, which nobody has added", func(h *history) {
			h.Threads[0].Messages = append(h.Threads[0].Messages, spool.Message{ID: "m5", Role: spool.RoleUser})
		}},
		"messages in another order": {"messages-kept", "message m2 stands after m3", func(h *history) {
			all := h.Threads[0].Messages
			h.Threads[0].Messages = []spool.Message{all[0], all[2], all[1], all[3]}
		}},
		"a branch without its base": {"branch", "has the base m1, and begins after m2", func(h *history) {
			h.Threads[0].Branches = []spooltest.BranchDump{branched(h, "m1", 2)}
			h.Threads[0].Messages = h.Threads[0].Messages[:2]
		}},
		"a branch that is within another": {"branch", "its base m2 is in branch 0", func(h *history) {
			h.Threads[0].Branches = []spooltest.BranchDump{branched(h, "m2", 2)}
			h.Threads[0].Branches[0].Branch.BaseBranchID = 1
			h.Threads[0].Messages = h.Threads[0].Messages[:2]
		}},
		"a branch that counts wrongly": {"branch", "counts 3 messages", func(h *history) {
			h.Threads[0].Branches = []spooltest.BranchDump{branched(h, "m2", 2)}
			h.Threads[0].Branches[0].Branch.MessageCount = 3
			h.Threads[0].Messages = h.Threads[0].Messages[:2]
		}},

		"a frame that comes twice": {"client-seq", "seq 4 comes after 4", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { return slices.Insert(f, 10, f[10]) })
		}},
		"an entry that is left out": {"client-seq", "what is in between does not", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { return slices.Delete(f, 10, 11) })
		}},
		"an end that is not told": {"client-seq", "the client stands at seq 5", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { return f[:len(f)-1] })
		}},
		"an item that comes twice": {"client-items", "comes after 1-3", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { return slices.Insert(f, 4, f[3]) })
		}},
		"an item that is left out": {"client-items", "what is in between does not", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { return slices.Delete(f, 3, 4) })
		}},
		"an item after the last": {"client-items", "comes after its last one", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { return slices.Insert(f, 9, f[7]) })
		}},
		"an item before the start": {"client-order", "before the record starts it", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { f[11], f[12] = f[12], f[11]; return f })
		}},
		"an end before the last item": {"client-order", "before its last item has come", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame { f[8], f[9] = f[9], f[8]; return f })
		}},
		"text that nobody saved": {"client-text", "two", func(h *history) {
			h.Commits[5].Messages = h.Commits[5].Messages[:1]
			h.Threads[0].Messages = h.Threads[0].Messages[:3]
		}},
		"text of another kind": {"client-text", "was saved", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame {
				item := wire.NewItem(wire.ItemTextContent, f[2].Item.Offset, 0, wire.Delta{Delta: "hm"})
				f[2].Item = &item
				return f
			})
		}},
		"text that is not saved": {"client-text", "shows the unsaved", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame {
				item := wire.NewItem(wire.ItemCustom, f[16].Item.Offset, 0, nil)
				f[16].Item = &item
				return f
			})
		}},
		"a call that nobody saved": {"client-text", "was saved", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame {
				item := wire.NewItem(wire.ItemToolStart, f[4].Item.Offset, 0, wire.ToolStarted{ToolCallID: "other"})
				f[4].Item = &item
				return f
			})
		}},
		"a call that is never closed": {"client-text", "call c of run r shows no result", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame {
				item := wire.NewItem(wire.ItemCustom, f[13].Item.Offset, 0, nil)
				f[13].Item = &item
				return f
			})
		}},
		"a failure that is not taken back": {"client-text", "r:1 has ended, and shows the unsaved", func(h *history) {
			fails(h, nil)
		}},
		"a failure that is taken back": {"", "", func(h *history) {
			fails(h, &wire.StreamSnapshot{StreamID: "r:1", RunID: "r", Offset: &wire.Offset{Fence: 1, N: 7}})
		}},
		"a failure that is taken back with content": {"client-text", "has the unsaved item", func(h *history) {
			item := *h.Clients[0].Frames[3].Item
			fails(h, &wire.StreamSnapshot{
				StreamID: "r:1", RunID: "r", Items: []wire.Item{item}, Offset: &wire.Offset{Fence: 1, N: 7},
			})
		}},
		"a failure that is taken back elsewhere": {"client-items", "the snapshot of r:1 stands at 1-5", func(h *history) {
			fails(h, &wire.StreamSnapshot{StreamID: "r:1", RunID: "r", Offset: &wire.Offset{Fence: 1, N: 5}})
		}},
		"a snapshot of a run at another entry": {
			"client-seq", "the snapshot of a run stands at seq 1, and the client at 2",
			func(h *history) {
				fails(h, &wire.StreamSnapshot{StreamID: "r:1", RunID: "r", Offset: &wire.Offset{Fence: 1, N: 7}})
				for _, f := range h.Clients[0].Frames {
					if f.Kind == wire.FrameSnapshot {
						f.Snapshot.LastEventSeq = 1
					}
				}
			},
		},
		"another result": {"client-text", "shows the result", func(h *history) {
			frames(h, func(f []wire.Frame) []wire.Frame {
				item := wire.NewItem(wire.ItemToolResult, f[13].Item.Offset, 0,
					wire.ToolResulted{ToolCallID: "c", Result: json.RawMessage(`2`)})
				f[13].Item = &item
				return f
			})
		}},
		"a snapshot that goes back": {"client-seq", "a snapshot of seq 1", func(h *history) {
			snap := *h.Clients[1].Frames[3].Snapshot
			snap.LastEventSeq, snap.Stream = 1, nil
			frames(h, func(f []wire.Frame) []wire.Frame {
				return slices.Insert(f, 12, wire.Frame{Kind: wire.FrameSnapshot, Snapshot: &snap})
			})
		}},
		"a hole that no snapshot stands for": {"client-seq", "seq 6 comes after 1", func(h *history) {
			h.Clients[1].Frames = slices.Delete(slices.Clone(h.Clients[1].Frames), 3, 4)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := sound()
			test.plant(h)
			found := h.Violations()
			if test.invariant == "" && len(found) == 0 {
				return
			}
			if !slices.ContainsFunc(found, func(v spooltest.Violation) bool {
				return v.Invariant == test.invariant && strings.Contains(v.What, test.what)
			}) {
				t.Errorf("no %s with %q was reported, but %v", test.invariant, test.what, found)
			}
		})
	}
}

// fails has the first segment of the live client end with a RUN_ERROR after text that nobody
// has saved, and with a snapshot of the run that has this stream. Nil: without one.
func fails(h *spooltest.History, stream *wire.StreamSnapshot) {
	f := slices.Clone(h.Clients[0].Frames)
	half := wire.NewItem(wire.ItemTextContent, f[7].Item.Offset, 0, wire.Delta{Delta: "half"})
	end := wire.NewItem(wire.ItemRunError, f[8].Item.Offset, 0, nil)
	f[7].Item, f[8].Item = &half, &end
	if stream != nil {
		stream.End = &end
		f = slices.Insert(f, 9, wire.Frame{Kind: wire.FrameSnapshot, Snapshot: &wire.Snapshot{
			Thread: wire.Thread{ID: "t"}, AfterMessageID: &h.Threads[0].Messages[0].ID, Messages: h.Threads[0].Messages[1:2],
			Runs: []wire.Run{h.Threads[0].Runs[0].Run}, LastEventSeq: 2, Stream: stream,
		}})
	}
	h.Clients[0].Frames = f
}

// branched returns a branch of the messages from the nth one on.
func branched(h *spooltest.History, base spool.MessageID, from int) spooltest.BranchDump {
	messages := h.Threads[0].Messages[from:]
	return spooltest.BranchDump{Messages: messages, Branch: wire.Branch{
		ID: 9, FromMessageID: messages[0].ID, BaseMessageID: base, MessageCount: len(messages),
	}}
}

func twoActive(h *spooltest.History) []store.RunRow {
	a, b := h.Threads[0].Runs[0], h.Threads[0].Runs[0]
	a.State, b.State, b.ID = wire.Queued, wire.Queued, "r0"
	return []store.RunRow{a, b}
}

// approve has the call approved with its digest, and with these arguments.
func approve(h *spooltest.History, args string) {
	p := store.Park{RunID: "r", Step: 1, ToolCallID: "c", Reason: wire.ParkApproval, Args: json.RawMessage(args)}
	asked := wire.InputRequired{ToolCallID: "c", Reason: p.Reason, Digest: p.DigestOf(nil)}
	h.Threads[0].Entries[1].Payload = wire.NewEntry("", "r", asked).Payload
	h.Threads[0].Entries[3].Payload = wire.NewEntry("", "r",
		wire.HITLResponse{ToolCallID: "c", Approved: true, Digest: asked.Digest}).Payload
}

func waiting(h *spooltest.History, id spool.RunID, place int64) store.RunRow {
	r := h.Commits[0].Runs[0]
	r.ID, r.QueuePosition, r.Segments = id, place, 0
	r.Wait = &store.Wait{WhenBusy: spool.BusyEnqueue, Content: spool.TextContent("next")}
	return r
}

// expire has the call expire, that long before its time.
func expire(h *spooltest.History, then spool.ExpiryAction, early time.Duration) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	h.Threads[0].Entries[1].Payload = wire.NewEntry("", "r", wire.InputRequired{ToolCallID: "c", ExpiresAt: at}).Payload
	h.Threads[0].Entries[3] = *wire.NewEntry(wire.EntryInputExpired, "r",
		wire.InputExpired{ToolCallID: "c", OnExpiry: then})
	h.Threads[0].Entries[3].CreatedAt = at.Add(-early)
}

func late(h *spooltest.History, entries []wire.Entry, messages []spool.Message) spooltest.Commit {
	return spooltest.Commit{Thread: h.Commits[0].Thread, FenceAfter: 2, Entries: entries, Messages: messages}
}

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

// soundTree returns a history without a violation: a run whose one call spawned another,
// and a client that saw both.
func soundTree() *spooltest.History {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	root := store.RunRow{Run: wire.Run{
		Tenant: "acme", ID: "r", ThreadID: "t", State: wire.Completed, StopReason: wire.StopCompleted,
		EndedAt: at.Add(time.Second), Segments: 1,
		TokenCount: spool.TokenCount{InputTokens: 3, OutputTokens: 2, TotalTokens: 5},
	}, RunState: store.RunState{Children: 1}}
	nested := store.RunRow{Run: wire.Run{
		Tenant: "acme", ID: "n", ThreadID: "t", ParentID: "r", RootID: "r", CallID: "c", Depth: 1, State: wire.Completed,
		StopReason: wire.StopCompleted, EndedAt: at, TokenCount: root.TokenCount, Result: &wire.NestedResult{Text: "below"},
	}}
	messages := []spool.Message{
		{ID: "m1", Role: spool.RoleUser, Content: spool.TextContent("go"), RunID: "r"},
		{ID: "m2", Role: spool.RoleUser, Content: spool.TextContent("brief"), RunID: "n", AgentID: "n"},
		{ID: "m3", Role: spool.RoleAssistant, Content: spool.TextContent("below"), RunID: "n", AgentID: "n"},
		{ID: "m4", Role: spool.RoleAssistant, RunID: "r", Content: spool.Content{
			{Type: spool.PartToolCall, ToolCallID: "c", ToolName: spool.SpawnTool, Args: json.RawMessage(`{}`)},
		}},
		{ID: "m5", Role: spool.RoleTool, RunID: "r", Content: spool.Content{
			{
				Type: spool.PartToolResult, ToolCallID: "c", ToolName: spool.SpawnTool,
				Result: json.RawMessage(`{"agentId":"n","result":"below"}`),
			},
		}},
		{ID: "m6", Role: spool.RoleAssistant, Content: spool.TextContent("above"), RunID: "r"},
	}
	record := []wire.Entry{
		*wire.NewEntry(wire.EntryRunStarted, "r", wire.RunStarted{RunID: "r", StreamID: "r:1", Segment: 1}),
		*wire.NewEntry(wire.EntryRunEnded, "r",
			wire.RunEnded{RunID: "r", StreamID: "r:1", Segment: 1, Status: wire.SegmentFinished}),
	}
	frames := []wire.Frame{{Kind: wire.FrameThread, Event: &record[0]}}
	id := spool.AgentID("n")
	for i, say := range []struct {
		t       wire.ItemType
		payload any
	}{
		{wire.ItemRunStarted, nil},
		{wire.ItemToolStart, wire.ToolStarted{ToolCallID: "c", ToolName: spool.SpawnTool}},
		{wire.ItemSubagentStarted, wire.SubagentStarted{SubagentID: "n", Depth: 1}},
		{wire.ItemSubagentEvent, wire.WrapItem("n", wire.ItemTextContent, wire.Delta{Delta: "below"})},
		{wire.ItemStepFinished, wire.StepFinished{Step: 1, AgentID: &id}},
		{wire.ItemSubagentFinished, wire.SubagentFinished{SubagentID: "n", Status: wire.SubagentCompleted}},
		{
			wire.ItemToolResult, wire.ToolResulted{ToolCallID: "c", Result: json.RawMessage(`{"agentId":"n","result":"below"}`)},
		},
		{wire.ItemStepFinished, wire.StepFinished{Step: 1}},
		{wire.ItemTextContent, wire.Delta{Delta: "above"}},
		{wire.ItemStepFinished, wire.StepFinished{Step: 2}},
		{wire.ItemRunFinished, wire.StreamFinished{Usage: &root.TokenCount}},
	} {
		item := wire.NewItem(say.t, wire.Offset{Fence: 1, N: int64(i + 1)}, 0, say.payload)
		frames = append(frames, wire.Frame{Kind: wire.FrameStream, StreamID: "r:1", Item: &item})
	}
	for i := range record {
		record[i].Seq, record[i].ThreadID = int64(i+1), "t"
	}
	frames = append(frames, wire.Frame{Kind: wire.FrameThread, Event: &record[1]})
	as := func(r store.RunRow, s wire.State) store.RunRow {
		r.State, r.EndedAt = s, time.Time{}
		return r
	}
	in, out := int64(3), int64(2)
	row := wire.UsageRow{
		RunID: "r", AgentID: "n", Outcome: wire.OutcomeFinished, Usage: spool.Usage{Input: &in, Output: &out},
	}
	line := wire.UsageLine{AgentID: &id}
	line.Add(row)
	after := []spool.MessageID{"", "m1", "m2", "m3", "m4", "m5"}
	return &spooltest.History{
		Settled: true,
		Threads: []spooltest.ThreadDump{{
			Thread: wire.Thread{Tenant: "acme", ID: "t", State: wire.Completed, RunID: "r", LastSeq: 2},
			Runs:   []store.RunRow{nested, root}, Messages: messages, Entries: record, Usage: []wire.UsageLine{line},
		}},
		Commits: []spooltest.Commit{
			{
				Thread: historyKey, Runs: []store.RunRow{as(root, wire.Queued)}, Messages: messages[:1], After: after[:1],
				Jobs: []wire.Job{{RunID: "r"}},
			},
			{Thread: historyKey, FenceAfter: 1, Runs: []store.RunRow{as(root, wire.Running)}, Entries: record[:1]},
			{
				Thread: historyKey, Fence: 1, FenceAfter: 1, Runs: []store.RunRow{as(nested, wire.Running)},
				Messages: messages[1:2], After: after[1:2],
			},
			{
				Thread: historyKey, Fence: 1, FenceAfter: 1, Runs: []store.RunRow{nested}, Messages: messages[2:3],
				After: after[2:3], Usage: []wire.UsageRow{row},
			},
			{
				Thread: historyKey, Fence: 1, FenceAfter: 1, Runs: []store.RunRow{root}, Messages: messages[3:], After: after[3:],
				Entries: record[1:],
			},
		},
		Clients:    []*spooltest.Client{{Name: "live", Thread: historyKey, FromStart: true, Frames: frames}},
		Executions: []spooltest.Execution{{Call: spool.ToolCall{Thread: historyKey, RunID: "n", Step: 1, ID: "x"}}},
	}
}

func TestHistorySoundTree(t *testing.T) {
	t.Parallel()

	for _, v := range soundTree().Violations() {
		t.Error(v)
	}
}

// TestHistoryPlantedTree plants violations below a dispatched run.
func TestHistoryPlantedTree(t *testing.T) {
	t.Parallel()

	type history = spooltest.History
	item := func(h *history, at int, t wire.ItemType, payload any) {
		frames := slices.Clone(h.Clients[0].Frames)
		item := wire.NewItem(t, frames[at].Item.Offset, 0, payload)
		frames[at].Item = &item
		h.Clients[0].Frames = frames
	}
	for name, test := range map[string]struct {
		invariant, what string
		plant           func(h *history)
	}{
		"a nested run that hangs": {
			"nested-end", "run n is still RUNNING", func(h *history) { h.Threads[0].Runs[0].State = wire.Running },
		},
		"one that is left behind": {"nested-end", "commit 4 leaves the nested run n RUNNING", func(h *history) {
			h.Commits[3].Runs = nil
		}},
		"one that goes on": {
			"after-end", "adds a message to run n",
			func(h *history) { h.Commits = append(h.Commits, late(h, nil, h.Threads[0].Messages[2:3])) },
		},
		"one that outlives its root": {
			"nested-end", "has ended after r",
			func(h *history) { h.Threads[0].Runs[0].EndedAt = h.Threads[0].Runs[1].EndedAt.Add(1) },
		},
		"an end without a reason": {
			"nested-end", "without a time or a reason", func(h *history) { h.Threads[0].Runs[0].StopReason = "" },
		},
		"one that is queued": {
			"nested", "commit 2 leaves the nested run n QUEUED", func(h *history) { h.Commits[2].Runs[0].State = wire.Queued },
		},
		"one below nobody":     {"nested", "is below gone", func(h *history) { h.Threads[0].Runs[0].ParentID = "gone" }},
		"one that is too deep": {"nested", "run n of depth 2", func(h *history) { h.Threads[0].Runs[0].Depth = 2 }},
		"one without a root":   {"nested", "has no root", func(h *history) { h.Threads[0].Runs[0].RootID = "" }},
		"a call that spawns two runs": {"nested", "call c of run r has spawned", func(h *history) {
			other := h.Threads[0].Runs[0]
			other.ID = "n2"
			h.Threads[0].Runs = append(h.Threads[0].Runs, other)
		}},
		"a message under another agent": {
			"nested", `stands under the agent ""`, func(h *history) { h.Threads[0].Messages[2].AgentID = "" },
		},
		"a report of something else": {"nested", "and its call told", func(h *history) {
			h.Threads[0].Messages[4].Content[0].Result = json.RawMessage(`{"agentId":"n","result":"more"}`)
		}},
		"a failure that is not told": {
			"nested", "and its call told",
			func(h *history) { h.Threads[0].Runs[0].State, h.Threads[0].Runs[0].Error = wire.Failed, "why" },
		},
		"two results of a spawn": {
			"tool-result", "has two results",
			func(h *history) { h.Threads[0].Messages = append(h.Threads[0].Messages, h.Threads[0].Messages[4]) },
		},
		"a park that is left below": {"park", "run n has ended, and its park x is open", func(h *history) {
			h.Threads[0].Runs[1].State, h.Threads[0].Thread.State = wire.Running, wire.Running
			h.Threads[0].Parks = []store.Park{{RunID: "r", AgentID: "n", ToolCallID: "x", State: wire.ParkOpen}}
		}},
		"two effects below": {
			"effect-once", "2 times", func(h *history) { h.Executions = append(h.Executions, h.Executions[0]) },
		},
		"usage that the root lacks": {
			"usage", "run r counts", func(h *history) { h.Threads[0].Runs[1].TokenCount = spool.TokenCount{} },
		},
		"usage that the nested run lacks": {
			"usage", "run n counts", func(h *history) { h.Threads[0].Runs[0].TokenCount = spool.TokenCount{} },
		},
		"text below that nobody saved": {"client-text", "run n shows", func(h *history) {
			item(h, 4, wire.ItemSubagentEvent, wire.WrapItem("n", wire.ItemTextContent, wire.Delta{Delta: "other"}))
		}},
		"text of another agent": {
			"client-text", "run r shows", func(h *history) { item(h, 4, wire.ItemTextContent, wire.Delta{Delta: "below"}) },
		},
		"text below that is not saved": {"client-text", "shows the unsaved", func(h *history) {
			item(h, 5, wire.ItemCustom, nil)
			item(h, 6, wire.ItemCustom, nil)
		}},
		"an item that is wrapped twice": {"client-text", "run r wraps", func(h *history) {
			item(h, 4, wire.ItemSubagentEvent, wire.WrapItem("n", wire.ItemSubagentEvent,
				wire.SubagentEvent{SubagentID: "n", Event: json.RawMessage(`{}`)}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := soundTree()
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

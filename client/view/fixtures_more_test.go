package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

func casesOfNested(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	clerk, scout := spool.AgentID("n1"), spool.AgentID("n2")
	c := hello(t)
	c.call("call_1", "spawn", `{"agent": "clerk"}`)
	c.call("call_2", "spawn", `{"agent": "scout"}`)
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{
		SubagentID: clerk, Name: "clerk", Depth: 1, ParentID: "r1", CallID: "call_1",
	})
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{SubagentID: scout, Name: "scout", Depth: 1})
	c.nested(clerk, wire.ItemTextStart, wire.Block{MessageID: "b1", Role: spool.RoleAssistant})
	c.nested(scout, wire.ItemReasoningContent, wire.Delta{MessageID: "b2", Delta: "Hm"})
	c.nested(clerk, wire.ItemTextContent, wire.Delta{MessageID: "b1", Delta: "I look"})
	cases = append(cases, c.named("two nested runs say something at the same time"))
	c.nested(clerk, wire.ItemToolEnd, wire.ToolEnded{ToolCallID: "call_3", ToolName: "look", Args: json.RawMessage(`{}`)})
	c.nested(clerk, wire.ItemToolResult,
		wire.ToolResulted{ToolCallID: "call_3", ToolName: "look", Result: json.RawMessage(`1`)})
	c.step(1, clerk, "tool-calls")
	c.nested(clerk, wire.ItemTextContent, wire.Delta{MessageID: "b3", Delta: "One"})
	cases = append(cases, c.named("a nested step is saved before the step that called it"))
	c.step(2, clerk, "stop")
	c.nested(scout, wire.ItemTextContent, wire.Delta{MessageID: "b4", Delta: "Never saved"})
	c.item(wire.ItemSubagentFinished, wire.SubagentFinished{SubagentID: clerk, Status: wire.SubagentCompleted})
	c.item(wire.ItemSubagentFinished, wire.SubagentFinished{
		SubagentID: scout, Status: wire.SubagentFailed, Error: "model: no (status 400)",
	})
	c.result("call_1", "spawn", `{"agentId": "n1", "result": "One"}`)
	c.result("call_2", "spawn", `{"agentId": "n2", "error": "model: no (status 400)"}`)
	c.step(1, "", "tool-calls")
	cases = append(cases, c.named("one nested run has finished, and one has failed"))

	// A step spawns several runs at once, and one of these spawns another. They come in the order of the store.
	c = hello(t)
	begin := func(id, parent spool.RunID, depth int) {
		c.item(wire.ItemSubagentStarted, wire.SubagentStarted{
			SubagentID: spool.AgentID(id), Name: "clerk", Depth: depth, ParentID: parent, CallID: "call_1",
		})
	}
	c.call("call_1", "spawn", `{"agent": "clerk"}`)
	c.call("call_2", "spawn", `{"agent": "clerk"}`)
	c.call("call_3", "spawn", `{"agent": "clerk"}`)
	begin("n1", "r1", 1)
	begin("n2", "r1", 1)
	begin("n11", "n1", 2)
	begin("n3", "r1", 1)
	cases = append(cases, c.named("runs that a step has spawned at once are the newest first"))
	var all []wire.Run
	for _, of := range [][2]spool.RunID{
		{"n4", "n3"}, {"n3", "r1"}, {"n11", "n1"}, {"n2", "r1"}, {"n1", "r1"}, {"r1", ""},
	} {
		all = append(all, runRow(of[0], of[1], wire.Running))
	}
	c.snapshot(c.snapRun(wire.Running, "m1", all))
	begin("n4", "n3", 2) // the store had it before the stream
	begin("n5", "r1", 1)
	cases = append(cases, c.named("a snapshot of their run has them in the same order"))

	// Three runs are accepted between the nested runs of a step: one that waits for the thread, and two steers. A snapshot
	// has all runs in the order in which the store got them; a view has those of one family together.
	accepted := map[spool.RunID]time.Time{
		"r3": moment(3), "r2": moment(3).Add(100 * time.Microsecond), "r4": moment(3).Add(120 * time.Microsecond),
	}
	c = hello(t)
	c.call("call_1", "spawn", `{"agent": "clerk"}`)
	c.call("call_2", "spawn", `{"agent": "clerk"}`)
	begin("n1", "r1", 1)
	c.state(wire.StateChange{
		State: wire.Running, RunID: "r1", EnqueuedAt: moment(0), StartedAt: moment(1),
		Queue: []wire.QueuedRun{
			{RunID: "r2", Position: 1, WhenBusy: spool.BusySteer, EnqueuedAt: accepted["r2"]},
			{RunID: "r4", Position: 2, WhenBusy: spool.BusySteer, EnqueuedAt: accepted["r4"]},
			{RunID: "r3", Position: 3, WhenBusy: spool.BusyEnqueue, EnqueuedAt: accepted["r3"]},
		},
	})
	begin("n2", "r1", 1)
	c.step(1, "", "tool-calls")
	steer := func(run spool.RunID, turn spool.MessageID) {
		c.turn(turn, "Left")
		c.entry(wire.EntrySteered, wire.Steered{
			RunID: "r1", SteerRunID: run, MessageID: turn, EnqueuedAt: accepted[run], Steps: 1,
		})
	}
	steer("r2", "m2")
	steer("r4", "m3")
	c.step(2, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	c.state(wire.StateChange{
		State: wire.Completed, RunID: "r1", EnqueuedAt: moment(0), StartedAt: moment(1), EndedAt: moment(9),
		StopReason: wire.StopCompleted,
	})
	c.run = "r3"
	c.turn("m4", "And then?")
	c.state(wire.StateChange{State: wire.Queued, RunID: "r3", EnqueuedAt: accepted["r3"]})
	cases = append(cases, c.named("runs that were accepted between nested ones"))
	inStore := []wire.Run{runRow("n2", "r1", wire.Completed)}
	for _, id := range []spool.RunID{"r4", "r2", "r3"} {
		r := runRow(id, "", wire.Queued)
		r.EnqueuedAt, r.StartedAt = accepted[id], accepted[id] // no worker has claimed it
		if id != "r3" {
			r.State, r.StopReason, r.EndedAt = wire.Completed, wire.StopSteered, moment(5)
		}
		inStore = append(inStore, r)
	}
	fresh := snap(wire.Queued, c.seq, userTurn("m1", "r1", "Hello"), userTurn("m2", "r1", "Left"),
		userTurn("m3", "r1", "Left"), userTurn("m4", "r3", "And then?"))
	fresh.Runs = append(fresh.Runs, inStore...)
	fresh.Runs = append(fresh.Runs, runRow("n1", "r1", wire.Completed), runRow("r1", "", wire.Completed))
	cases = append(cases, newScript(t, fresh).named("a snapshot: runs that were accepted between nested ones"))
	c.snapshot(c.snapRun(wire.Queued, "m1", fresh.Runs))
	cases = append(cases, c.named("a snapshot of their run: runs that were accepted between nested ones"))

	// A nested run asks, and continues in the stream of the next segment.
	c = hello(t)
	c.call("call_1", "spawn", `{"agent": "clerk"}`)
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{SubagentID: clerk, Name: "clerk", Depth: 1})
	c.nested(clerk, wire.ItemToolEnd, wire.ToolEnded{
		ToolCallID: "call_2", ToolName: "pay", Args: json.RawMessage(`{"cents": 500}`),
	})
	c.step(1, clerk, "tool-calls")
	c.step(1, "", "tool-calls")
	ask := wire.InputRequired{
		ToolCallID: "call_2", ToolName: "pay", AgentID: &clerk, Arguments: json.RawMessage(`{"cents": 500}`),
		Reason: "approval", InputSchema: json.RawMessage(`{"type": "object"}`),
		Frames: []wire.ParkFrame{{ToolCallID: "call_1"}},
		Nested: &wire.NestedCaller{AgentID: clerk, Name: "clerk", Model: "demo", Depth: 1}, Digest: "sha256:2af7",
		ExpiresAt: moment(59),
	}
	c.entry(wire.EntryInputRequired, ask)
	c.item(wire.ItemInputRequired, ask)
	c.item(wire.ItemRunFinished, wire.StreamFinished{Status: wire.SegmentParked})
	cases = append(cases, c.named("the stream of a segment ends because a nested run waits"))
	c.over(wire.SegmentParked, "", 0)
	c.state(wire.StateChange{State: wire.WaitingForInput, RunID: "r1", StartedAt: moment(1)})
	cases = append(cases, c.named("a nested run waits for approval"))
	c.entry(wire.EntryHITLResponse, wire.HITLResponse{
		ToolCallID: "call_2", Approved: true, AnsweredBy: "ann", Digest: "sha256:2af7",
	})
	c.begin(2)
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{SubagentID: clerk, Name: "clerk", Depth: 1})
	c.nested(clerk, wire.ItemToolResult,
		wire.ToolResulted{ToolCallID: "call_2", ToolName: "pay", Result: json.RawMessage(`{"paid": true}`)})
	c.step(1, clerk, "tool-calls")
	c.nested(clerk, wire.ItemTextContent, wire.Delta{MessageID: "b1", Delta: "Paid."})
	cases = append(cases, c.named("a nested run continues in the next segment"))

	// The end of the stream was lost: the entry says that the runs wait which have not ended, at any depth.
	c = hello(t)
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{
		SubagentID: clerk, Name: "clerk", Depth: 1, ParentID: "r1", CallID: "call_1",
	})
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{
		SubagentID: scout, Name: "scout", Depth: 2, ParentID: spool.RunID(clerk), CallID: "call_2",
	})
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{
		SubagentID: "n3", Name: "cook", Depth: 1, ParentID: "r1", CallID: "call_3",
	})
	c.item(wire.ItemSubagentFinished, wire.SubagentFinished{SubagentID: "n3", Status: wire.SubagentCompleted})
	c.over(wire.SegmentParked, "", 0)
	cases = append(cases, c.named("nested runs wait with their run"))
	return cases
}

func question(call spool.ToolCallID, reason string) wire.InputRequired {
	return wire.InputRequired{
		ToolCallID: call, ToolName: "send", Arguments: json.RawMessage(`{"to": "ann@example.com"}`),
		Frames: []wire.ParkFrame{}, Reason: reason, Digest: "sha256:2af7", ExpiresAt: moment(30),
		OnExpiry: spool.ExpireExtend,
	}
}

// parked returns a run that has asked something.
func parked(t *testing.T, questions ...wire.InputRequired) *script {
	t.Helper()

	c := hello(t)
	for _, q := range questions {
		c.call(q.ToolCallID, q.ToolName, `{"to": "ann@example.com"}`)
	}
	c.step(1, "", "tool-calls")
	for _, q := range questions {
		c.entry(wire.EntryInputRequired, q.InRecord())
		c.item(wire.ItemInputRequired, q.InRecord())
	}
	c.end(wire.SegmentParked, "", 0)
	c.state(wire.StateChange{State: wire.WaitingForInput, RunID: "r1", StartedAt: moment(1)})
	return c
}

func casesOfQuestions(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	c := parked(t, question("call_1", "approval"), question("call_2", "approval"))
	c.entry(wire.EntryHITLResponse, wire.HITLResponse{ToolCallID: "call_1", Reason: "not on a Friday"})
	cases = append(cases, c.named("one of two questions is answered"))

	c = parked(t, question("call_1", "approval"))
	c.entry(wire.EntryInputExpiring, wire.InputExpiring{
		ToolCallID: "call_1", ExpiresAt: moment(30), OnExpiry: spool.ExpireExtend,
	})
	c.entry(wire.EntryInputExtended, wire.InputExtended{
		ToolCallID: "call_1", ExpiresAt: moment(45), OnExpiry: spool.ExpireExtend,
	})
	again := question("call_1", "approval")
	again.ExpiresAt = moment(45)
	c.entry(wire.EntryInputRequired, again)
	cases = append(cases, c.named("a question gets more time"))
	c.entry(wire.EntryInputExpired, wire.InputExpired{ToolCallID: "call_1"})
	cases = append(cases, c.named("a question expires"))
	c.begin(2)
	c.state(wire.StateChange{
		State: wire.Running, RunID: "r1", StartedAt: moment(1), Expired: wire.Expired{Questions: 1, Since: moment(45)},
	})
	c.result("call_1", "send", `{"responded": false, "cancelled": true, "reason": "timeout"}`)
	c.step(1, "", "tool-calls")
	c.say("b1", "Nobody answered.")
	cases = append(cases, c.named("a run goes on after nobody answered"))

	c = parked(t, question("call_1", "approval"))
	c.entry(wire.EntryHITLResponse, wire.HITLResponse{ToolCallID: "call_1", Approved: true})
	c.begin(2)
	second := question("call_1", wire.ParkOutcomeUnknown)
	second.Occurrence, second.Digest = 2, "sha256:0d2a"
	c.entry(wire.EntryInputRequired, second.InRecord())
	c.item(wire.ItemInputRequired, second.InRecord())
	c.end(wire.SegmentParked, "", 0)
	c.state(wire.StateChange{State: wire.WaitingForInput, RunID: "r1", StartedAt: moment(1)})
	cases = append(cases, c.named("the outcome of a call is unknown, and it asks for the second time"))

	budget := question("budget-1", wire.ParkBudget)
	budget.ToolName, budget.Arguments = "budget",
		json.RawMessage(`{"exhausted": "token_budget", "spent": {"tokens": 990}, "budget": {"tokenBudget": 1000}}`)
	c = hello(t)
	c.say("b1", "More costs more.")
	c.step(1, "", "tool-calls")
	c.entry(wire.EntryInputRequired, budget.InRecord())
	c.item(wire.ItemInputRequired, budget.InRecord())
	c.end(wire.SegmentParked, "", 0)
	c.state(wire.StateChange{State: wire.WaitingForInput, RunID: "r1", StartedAt: moment(1)})
	cases = append(cases, c.named("a run asks for a larger budget"))
	return cases
}

func casesOfEnds(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	cancelled := wire.StateChange{
		State: wire.Cancelled, RunID: "r1", StartedAt: moment(1), EndedAt: moment(9), StopReason: wire.StopCancelled,
	}
	c := hello(t)
	c.say("b1", "I was about to")
	c.item(wire.ItemRunFinished, wire.StreamFinished{Status: wire.SegmentStopped, FinishReason: wire.StopCancelled})
	stopped := runRow("r1", "", wire.Cancelled)
	stopped.StopReason = wire.StopCancelled
	c.snapshot(c.snapRun(wire.Cancelled, "m1", []wire.Run{stopped},
		saved("m2", "r1", spool.RoleAssistant, spool.TextContent("I was about to"))))
	c.over(wire.SegmentStopped, "", 0)
	c.state(cancelled)
	cases = append(cases, c.named("a run is stopped in the middle of a text"))

	c = parked(t, question("call_1", "approval"))
	c.snapshot(c.snapRun(wire.Cancelled, "m1", []wire.Run{stopped},
		saved("m2", "r1", spool.RoleAssistant,
			spool.Content{
				{
					Type: spool.PartToolCall, ToolCallID: "call_1", ToolName: "send",
					Args: json.RawMessage(`{"to": "ann@example.com"}`),
				},
			}),
		saved("m3", "r1", spool.RoleTool, spool.Content{
			{
				Type: spool.PartToolResult, ToolCallID: "call_1", ToolName: "send",
				Result: json.RawMessage(`{"cancelled": true, "reason": "stopped"}`),
			},
		}),
	))
	c.state(cancelled)
	cases = append(cases, c.named("a run is stopped while it waits for an answer"))

	c = hello(t)
	c.say("b1", "No")
	c.item(wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentError, Error: "model: bad request (status 400)"})
	failed := runRow("r1", "", wire.Failed)
	failed.StopReason, failed.Error = wire.StopFailed, "model: bad request (status 400)"
	c.snapshot(c.snapRun(wire.Failed, "m1", []wire.Run{failed}))
	c.over(wire.SegmentError, failed.Error, 0)
	c.state(wire.StateChange{
		State: wire.Failed, RunID: "r1", StartedAt: moment(1), EndedAt: moment(9), StopReason: wire.StopFailed,
		Error: failed.Error,
	})
	cases = append(cases, c.named("a run fails"))

	c = newScript(t, snap(wire.Completed, 2, userTurn("m1", "r1", "Hello")))
	c.notice(wire.NoticeThreadDeleted, wire.ThreadDeleted{ThreadID: "t1"})
	cases = append(cases, c.named("a thread is deleted"))
	return cases
}

func casesOfWaits(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	c := hello(t)
	c.call("call_1", "report", `{}`)
	c.step(1, "", "tool-calls")
	c.entry(wire.EntryCallPending, wire.CallPending{ToolCallID: "call_1", ToolName: "report", Until: moment(50)})
	c.entry(wire.EntryCallPending, wire.CallPending{
		ToolCallID: "call_1", ToolName: "report", Note: "page 3 of 7", Until: moment(50),
	})
	c.end(wire.SegmentParked, "", 0)
	c.state(wire.StateChange{State: wire.WaitingForInput, RunID: "r1", StartedAt: moment(1)})
	cases = append(cases, c.named("the work of a call goes on elsewhere"))
	c.begin(2)
	c.result("call_1", "report", `{"pages": 7}`)
	cases = append(cases, c.named("the work of a call is done"))

	clerk := spool.AgentID("n1")
	c = hello(t)
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{SubagentID: clerk, Name: "clerk", Depth: 1})
	c.item(wire.ItemProviderWait, wire.ProviderWait{Limit: "requests"})
	c.item(wire.ItemProviderWait, wire.ProviderWait{AgentID: &clerk, Limit: "tokens"})
	cases = append(cases, c.named("two agents wait for the provider"))
	c.nested(clerk, wire.ItemTextStart, wire.Block{MessageID: "b1"})
	c.item(wire.ItemProviderWait, wire.ProviderWait{Limit: "refused"})
	cases = append(cases, c.named("one agent still waits for the provider"))
	c.end(wire.SegmentError, "model: slow down (status 429)", 30_000_000_000)
	cases = append(cases, c.named("a segment ends while it waits for the provider"))

	s := snap(wire.Queued, 3, userTurn("m1", "r1", "Hello"))
	s.Runs = []wire.Run{runRow("r1", "", wire.Queued)}
	for i, e := range []*wire.Entry{
		wire.NewEntry(wire.EntryRunStarted, "r1", wire.RunStarted{RunID: "r1", StreamID: "r1:1", Segment: 1}),
		wire.NewEntry(wire.EntryRunEnded, "r1",
			wire.RunEnded{
				RunID: "r1", StreamID: "r1:1", Segment: 1, Status: wire.SegmentError, Error: "model: slow down (status 429)",
				RetryAfterMS: 30000,
			}),
		wire.NewEntry(wire.EntryCallPending, "r1",
			wire.CallPending{ToolCallID: "call_1", ToolName: "report", Until: moment(50)}),
	} {
		e.ThreadID, e.Seq, e.CreatedAt = "t1", int64(i+1), moment(i)
		s.ActiveEvents = append(s.ActiveEvents, *e)
	}
	cases = append(cases, newScript(t, s).named("a snapshot says what its run waits for"))
	return cases
}

func casesOfReconnect(t *testing.T) []viewCase {
	t.Helper()

	// A client that reads a snapshot in the middle of a text goes on behind it.
	offset := wire.Offset{Fence: 1, N: 3}
	s := snap(wire.Running, 1, userTurn("m1", "r1", "Hello"))
	s.Runs = []wire.Run{runRow("r1", "", wire.Running)}
	started := wire.NewEntry(wire.EntryRunStarted, "r1", wire.RunStarted{RunID: "r1", StreamID: "r1:1", Segment: 1})
	started.ThreadID, started.Seq, started.CreatedAt = "t1", 1, moment(1)
	s.ActiveEvents = []wire.Entry{*started}
	s.Stream = &wire.StreamSnapshot{StreamID: "r1:1", RunID: "r1", Offset: &offset, Items: []wire.Item{
		wire.NewItem(wire.ItemRunStarted, wire.Offset{Fence: 1, N: 1}, 1,
			wire.StreamStarted{ThreadID: "t1", RunID: "r1", StreamID: "r1:1", Segment: 1}),
		wire.NewItem(wire.ItemTextStart, wire.Offset{Fence: 1, N: 2}, 1,
			wire.Block{MessageID: "b1", Role: spool.RoleAssistant}),
		wire.NewItem(wire.ItemTextContent, offset, 1, wire.Delta{MessageID: "b1", Delta: "Half of "}),
	}}
	var cases []viewCase
	c := newScript(t, s)
	cases = append(cases, c.named("a snapshot in the middle of a text"))
	c.state(wire.StateChange{State: wire.Running, RunID: "r1", StartedAt: moment(1)})
	c.item(wire.ItemTextContent, wire.Delta{MessageID: "b1", Delta: "it."})
	cases = append(cases, c.named("a text goes on behind a snapshot"))
	c.step(1, "", "stop")
	cases = append(cases, c.named("a text that a snapshot began is saved"))

	// What comes again changes nothing: the present state, turns at the cursor, and entries.
	c = hello(t)
	c.say("b1", "Hel")
	c.state(wire.StateChange{State: wire.Running, RunID: "r1", StartedAt: moment(1)})
	c.turn("m1", "Hello")
	c.frames = append(c.frames, c.frames[2])
	cases = append(cases, c.named("a turn and a state that come again"))

	// A snapshot takes the place of everything when the server cannot send what was missed.
	whole := snap(wire.Completed, 9, userTurn("m1", "r1", "Hello"),
		saved("m2", "r1", spool.RoleAssistant, spool.TextContent("Hello, Ann.")))
	whole.Runs = []wire.Run{runRow("r1", "", wire.Completed)}
	c = hello(t)
	c.say("b1", "Hel")
	c.snapshot(whole)
	c.state(wire.StateChange{
		State: wire.Completed, RunID: "r1", StartedAt: moment(1), EndedAt: moment(4), StopReason: wire.StopCompleted,
	})
	cases = append(cases, c.named("a snapshot replaces what was missed"))

	// The present state is that of the next run, before the end of the run that was missed.
	c = hello(t)
	c.say("b1", "Hello.")
	c.state(wire.StateChange{State: wire.Running, RunID: "r2", StartedAt: moment(5)})
	c.step(1, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	cases = append(cases, c.named("a run that has ended while the client was away"))
	return cases
}

func casesOfUnknown(t *testing.T) []viewCase {
	t.Helper()

	c := hello(t)
	c.say("b1", "Hel")
	c.add(json.RawMessage(`{"kind": "news", "news": {"any": [1]}}`), false)
	c.entry("SOMETHING_NEW", map[string]any{"any": []any{"json", 1, nil}})
	c.entry("shop.order:paid", nil)
	c.notice("ping", map[string]int{"n": 1})
	c.item("SOMETHING_NEW", map[string]any{"any": []any{"json", 1, nil}})
	c.item(wire.ItemCustom, wire.Custom{Name: "progress", Value: json.RawMessage(`{"done": 0.5}`)})
	c.nested("n1", "SOMETHING_NEW", map[string]int{"any": 1})
	c.item(wire.ItemTextContent, map[string]any{"messageId": "b1", "delta": "lo", "unknown": true})
	c.notice(wire.NoticeStateChange, map[string]any{"state": "RUNNING", "runId": "r1", "unknown": map[string]int{"a": 1}})
	return []viewCase{c.named("what a client does not know changes nothing")}
}

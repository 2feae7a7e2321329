package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// viewCases returns the cases that no other fixture has.
func viewCases(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	for _, of := range []func(*testing.T) []viewCase{
		casesOfStep, casesOfRedo, casesOfTurns, casesOfQueue, casesOfNested, casesOfQuestions, casesOfEnds, casesOfWaits,
		casesOfReconnect, casesOfMissedRuns, casesOfAnswers, casesOfUnknown,
	} {
		cases = append(cases, of(t)...)
	}
	return cases
}

// hello begins a run of the turn m1.
func hello(t *testing.T) *script {
	t.Helper()

	c := newScript(t, nil)
	c.state(wire.StateChange{State: wire.Queued, RunID: "r1", EnqueuedAt: moment(0)})
	c.turn("m1", "Hello")
	c.begin(1)
	return c
}

func casesOfStep(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	c := hello(t)
	c.item(wire.ItemReasoningStart, wire.Block{MessageID: "b1"})
	c.item(wire.ItemReasoningContent, wire.Delta{MessageID: "b1", Delta: "Let me "})
	c.item(wire.ItemReasoningContent, wire.Delta{MessageID: "b1", Delta: "see."})
	c.item(wire.ItemReasoningEnd, wire.Block{MessageID: "b1"})
	c.say("b2", "Grüße, \"Ann\" 👋\n", "<b> & more")
	c.item(wire.ItemTextEnd, wire.Block{MessageID: "b2"})
	c.item(wire.ItemToolStart, wire.ToolStarted{ToolCallID: "call_1", ToolName: "send"})
	c.item(wire.ItemToolArgs, wire.ToolArgs{ToolCallID: "call_1", Delta: `{"to": "an`})
	cases = append(cases, c.named("reasoning, text and half of the arguments of a call"))

	c = hello(t)
	c.say("b1")
	c.item(wire.ItemTextEnd, wire.Block{MessageID: "b1"})
	cases = append(cases, c.named("a block without text is no part"))
	c.step(1, "", "stop")
	cases = append(cases, c.named("a step that said nothing"))

	c = hello(t)
	c.call("call_1", "first", `{"n": 1}`)
	c.call("call_2", "second", `null`)
	c.call("call_3", "third", `"{n: 1"`)
	c.result("call_3", "third", `"no JSON"`)
	c.result("call_1", "first", `{"done": true}`)
	cases = append(cases, c.named("results come in any order, and are shown in that of the calls"))
	c.result("call_2", "second", `null`)
	c.step(1, "", "tool-calls")
	c.say("b1", "Done.")
	cases = append(cases, c.named("a step is saved, and the next one begins"))

	c = hello(t)
	c.say("b1", "Paris has ", "2 million people.")
	c.item(wire.ItemTextEnd, wire.Block{MessageID: "b1"})
	c.call("call_1", "search", `{}`)
	c.item(wire.ItemSource, spool.Source{
		URL: "https://example.com/paris", Title: "Paris", Spans: []spool.Span{{Start: 0, End: 27}},
	})
	c.item(wire.ItemSource, spool.Source{Title: "report.pdf"})
	c.item(wire.ItemToolResult, wire.ToolResulted{
		ToolCallID: "call_1", ToolName: "search", Result: json.RawMessage(`{"sources":[{"title":"B"}]}`),
		Sources: []spool.Source{{Title: "B"}},
	})
	cases = append(cases, c.named("an answer cites, and a result names a source"))
	c.step(1, "", "tool-calls")
	cases = append(cases, c.named("the sources are saved"))

	c = hello(t)
	c.say("b1", "Look:")
	c.item(wire.ItemTextEnd, wire.Block{MessageID: "b1"})
	c.item(wire.ItemFile, wire.FileShown{Image: "artifact:art_1", MIMEType: "image/png"})
	c.item(wire.ItemFile, wire.FileShown{File: "artifact:art_2", MIMEType: "text/csv", FileName: "a.csv"})
	c.item(wire.ItemFile, wire.FileShown{Image: "artifact:art_1", MIMEType: "image/png"})
	c.say("b2", "Good?")
	cases = append(cases, c.named("an answer has images and a file"))
	c.step(1, "", "stop")
	cases = append(cases, c.named("the images and the file are saved"))

	c = hello(t)
	c.item(wire.ItemFile, wire.FileShown{Image: "artifact:art_1", MIMEType: "image/png"})
	cases = append(cases, c.named("an answer is an image"))
	return cases
}

func casesOfRedo(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	c := hello(t)
	c.call("call_1", "look", `{}`)
	c.result("call_1", "look", `1`)
	c.step(1, "", "tool-calls")
	c.say("b1", "It is ", "one")
	c.item(wire.ItemRunError, wire.StreamFailed{
		Status: wire.SegmentError, Error: "model: overloaded (status 503)", RetryAfterMS: 2000,
	})
	call := saved("m2", "r1", spool.RoleAssistant,
		spool.Content{{Type: spool.PartToolCall, ToolCallID: "call_1", ToolName: "look", Args: json.RawMessage(`{}`)}})
	result := saved("m3", "r1", spool.RoleTool,
		spool.Content{{Type: spool.PartToolResult, ToolCallID: "call_1", ToolName: "look", Result: json.RawMessage(`1`)}})
	failed := runRow("r1", "", wire.Queued)
	failed.Steps, failed.Attempts = 1, 1
	c.snapshot(c.snapRun(wire.Queued, "m1", []wire.Run{failed}, call, result))
	c.over(wire.SegmentError, "model: overloaded (status 503)", 2*time.Second)
	c.state(wire.StateChange{State: wire.Queued, RunID: "r1", StartedAt: moment(1)})
	cases = append(cases, c.named("a step has failed, and is redone later"))
	c.begin(2)
	c.say("b1", "It is ", "1.")
	cases = append(cases, c.named("a step is redone"))
	c.step(2, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	c.state(wire.StateChange{
		State: wire.Completed, RunID: "r1", StartedAt: moment(1), EndedAt: moment(9), StopReason: wire.StopCompleted,
		TokensUsed: 30, Usage: &spool.TokenCount{InputTokens: 20, OutputTokens: 10, TotalTokens: 30},
		Costs: []wire.Money{{Currency: "USD", Micros: 1875}},
	})
	cases = append(cases, c.named("the redone step is saved once"))

	c = hello(t)
	c.say("b1", "Half of ")
	c.item(wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentLost, Error: "the worker is gone"})
	c.snapshot(c.snapRun(wire.Running, "m1", []wire.Run{runRow("r1", "", wire.Running)}))
	c.over(wire.SegmentLost, "the worker is gone", 0)
	c.begin(2)
	c.say("b1", "All of it.")
	cases = append(cases, c.named("the worker has died, and another one has taken the run"))

	c = hello(t)
	c.say("b1", "Step one.")
	c.step(1, "", "tool-calls")
	c.end(wire.SegmentLost, "made room for another tenant's run", 0)
	c.state(wire.StateChange{State: wire.Queued, RunID: "r1", StartedAt: moment(1)})
	cases = append(cases, c.named("a run makes room after a saved step"))
	return cases
}

func casesOfTurns(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	steer := []wire.QueuedRun{
		{RunID: "r2", Position: 1, WhenBusy: spool.BusySteer, EnqueuedAt: moment(3), ClientMessageID: "c-2"},
	}
	c := hello(t)
	c.say("b1", "Step one.")
	c.state(wire.StateChange{State: wire.Running, RunID: "r1", StartedAt: moment(1), Queue: steer})
	cases = append(cases, c.named("a steer waits for the end of a step"))
	c.step(1, "", "tool-calls")
	c.turn("m2", "In French")
	c.entry(wire.EntrySteered, wire.Steered{
		RunID: "r1", SteerRunID: "r2", MessageID: "m2", ClientMessageID: "c-2", Steps: 1,
	})
	c.say("b2", "Étape deux")
	cases = append(cases, c.named("a steer stands between two steps"))
	c.item(wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentError, Error: "no"})
	one := saved("m3", "r1", spool.RoleAssistant, spool.TextContent("Step one."))
	c.snapshot(c.snapRun(wire.Queued, "m1", []wire.Run{runRow("r1", "", wire.Queued)}, one,
		userTurn("m2", "r1", "In French")))
	cases = append(cases, c.named("the snapshot of a run has the steer at its place"))

	conversation := []spool.Message{
		userTurn("m1", "r1", "One"), saved("m2", "r1", spool.RoleAssistant, spool.TextContent("1")),
		userTurn("m3", "r2", "Two"), saved("m4", "r2", spool.RoleAssistant, spool.TextContent("2")),
	}
	s := snap(wire.Completed, 4, conversation...)
	s.Runs = []wire.Run{runRow("r2", "", wire.Completed), runRow("r1", "", wire.Completed)}
	c = newScript(t, s)
	c.run = "r3"
	c.entry(wire.EntryMessagesDropped, wire.MessagesDropped{FromMessageID: "m3"})
	c.turn("m5", "Three")
	c.state(wire.StateChange{State: wire.Queued, RunID: "r3", EnqueuedAt: moment(7)})
	cases = append(cases, c.named("an edit drops a turn and what follows it"))
	c.begin(1)
	c.say("b1", "3")
	c.step(1, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	c.state(wire.StateChange{State: wire.Completed, RunID: "r3", EndedAt: moment(9), StopReason: wire.StopCompleted})
	c.run = ""
	c.entry(wire.EntryMessagesDropped, wire.MessagesDropped{FromMessageID: "m5"})
	cases = append(cases, c.named("a branch makes room for another one"))
	c.entry(wire.EntryMessagesRestored, wire.MessagesRestored{BranchID: 5, FromMessageID: "m3", Count: 2})
	back := snap(wire.Completed, c.seq, conversation...)
	back.Runs = []wire.Run{
		runRow("r3", "", wire.Completed), runRow("r2", "", wire.Completed), runRow("r1", "", wire.Completed),
	}
	c.snapshot(back)
	c.state(wire.StateChange{State: wire.Completed, RunID: "r3", EndedAt: moment(9), StopReason: wire.StopCompleted})
	cases = append(cases, c.named("a branch is restored"))

	c = newScript(t, snap(wire.Completed, 4, conversation[2:]...))
	c.entry(wire.EntryMessagesDropped, wire.MessagesDropped{FromMessageID: "m1"})
	cases = append(cases, c.named("a dropped message that is older than the view"))

	summary := saved("m9", "r1", spool.RoleSystem,
		spool.Content{{Type: spool.PartSummary, Text: "They counted.", ThroughMessageID: "m2"}})
	c = newScript(t, snap(wire.Completed, 4, conversation[0], conversation[1], summary, conversation[2]))
	c.entry(wire.EntryContextCompacted, wire.ContextCompacted{SummarizedMessages: 2, MessageID: "m9"})
	cases = append(cases, c.named("a summary is a message"))

	// What one run shows is corrected among the messages of others.
	nested := saved("n1:1", "n1", spool.RoleAssistant, spool.TextContent("nested"))
	nested.AgentID = "n1"
	mixed := []spool.Message{conversation[0], conversation[1], nested, conversation[2], conversation[3]}
	x := func(run spool.RunID) spool.Message {
		return saved("m8", run, spool.RoleAssistant, spool.TextContent("corrected"))
	}
	for _, of := range []struct {
		name  string
		after spool.MessageID
		run   spool.RunID
	}{
		{"the first run", "m1", "r1"},
		{"the second run", "m3", "r2"},
		{"an older run than the view has", "m0", "r0"},
		{"a run at the beginning of the thread", "", "r0"},
		{"a run whose turn the view does not have", "m0", "r1"},
	} {
		s := snap(wire.Completed, 4, mixed...)
		s.Runs = []wire.Run{runRow("n1", "r1", wire.Completed), runRow("r1", "", wire.Completed)}
		c := newScript(t, s)
		c.snapshot(c.snapRun(wire.Completed, of.after, []wire.Run{runRow(of.run, "", wire.Completed)}, x(of.run)))
		cases = append(cases, c.named("a snapshot of one run corrects "+of.name))
	}
	return cases
}

func casesOfQueue(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	s := snap(wire.Running, 1, userTurn("m1", "r1", "Hello"))
	s.Queue = []wire.QueuedRun{
		{
			RunID: "r2", Position: 1, WhenBusy: spool.BusyEnqueue, Content: spool.TextContent("And in French?"),
			EnqueuedAt: moment(2),
		},
		{
			RunID: "r3", Position: 2, WhenBusy: spool.BusyEnqueue, Content: spool.TextContent("And in Latin?"),
			EnqueuedAt: moment(3),
		},
	}
	s.Runs = []wire.Run{runRow("r3", "", wire.Queued), runRow("r2", "", wire.Queued), runRow("r1", "", wire.Running)}
	c := newScript(t, s)
	bare := func(q wire.QueuedRun, position int) wire.QueuedRun {
		q.Content, q.Position = nil, position
		return q
	}
	c.state(wire.StateChange{State: wire.Running, RunID: "r1", Queue: []wire.QueuedRun{
		bare(s.Queue[0], 1), bare(s.Queue[1], 2),
		{RunID: "r4", Position: 3, WhenBusy: spool.BusyEnqueue, EnqueuedAt: moment(4)},
	}})
	cases = append(cases, c.named("a queue keeps the turns that a snapshot had"))
	c.state(wire.StateChange{State: wire.Completed, RunID: "r1", EndedAt: moment(5), StopReason: wire.StopCompleted})
	c.run = "r2"
	c.turn("m2", "And in French?")
	c.state(wire.StateChange{
		State: wire.Queued, RunID: "r2", EnqueuedAt: moment(2), Queue: []wire.QueuedRun{bare(s.Queue[1], 1)},
	})
	cases = append(cases, c.named("the next run of a queue gets the thread"))
	return cases
}

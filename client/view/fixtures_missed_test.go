package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// missed is a client that has read the whole run r1 and then was away. Now it hears of the run r9, and gets the
// entries.
func missed(t *testing.T, state wire.StateChange) *script {
	t.Helper()

	s := snap(wire.Completed, 2, userTurn("m1", "r1", "Hello"),
		saved("m2", "r1", spool.RoleAssistant, spool.TextContent("Hello, Ann.")))
	s.Runs = []wire.Run{runRow("r1", "", wire.Completed)}
	c := newScript(t, s)
	c.now = moment(10)
	c.state(state)
	return c
}

func casesOfMissedRuns(t *testing.T) []viewCase {
	t.Helper()

	running := wire.StateChange{State: wire.Running, RunID: "r9", EnqueuedAt: moment(40), StartedAt: moment(41)}
	accepted := map[spool.RunID]time.Time{}
	segment := func(c *script, run spool.RunID, n int) {
		c.run = run
		stream := wire.NewStreamID(run, n)
		c.entry(wire.EntryRunStarted, wire.RunStarted{RunID: run, StreamID: stream, Segment: n, EnqueuedAt: accepted[run]})
		c.at.Offset.Fence = int64(n)
		c.item(wire.ItemRunStarted, wire.StreamStarted{ThreadID: "t1", RunID: run, StreamID: stream, Segment: n})
	}
	var cases []viewCase

	// The messages and the entries of the runs come, but no state of theirs.
	c := missed(t, running)
	c.run = "r2"
	c.turn("m3", "And then?")
	segment(c, "r2", 1)
	c.say("b1", "Then ")
	cases = append(cases, c.named("a missed run, in the middle of it"))
	c.step(1, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	c.run = "r3"
	c.turn("m4", "Now fail")
	segment(c, "r3", 1)
	c.end(wire.SegmentError, "model: bad request (status 400)", 0)
	c.run = "r4"
	c.turn("m5", "Stop")
	segment(c, "r4", 1)
	c.end(wire.SegmentStopped, "", 0)
	c.run = "r5"
	c.turn("m6", "Count to one million")
	segment(c, "r5", 1)
	c.item(wire.ItemRunFinished, wire.StreamFinished{Status: wire.SegmentFinished, FinishReason: wire.StopMaxSteps})
	c.entry(wire.EntryRunEnded, wire.RunEnded{
		RunID: "r5", StreamID: "r5:1", Segment: 1, Status: wire.SegmentFinished, StopReason: wire.StopMaxSteps,
	})
	cases = append(cases, c.named("missed runs that have finished, failed, were stopped and were cut short"))
	c.run = "r9"
	c.turn("m9", "Last")
	segment(c, "r9", 1)
	c.say("b1", "The last one.")
	cases = append(cases, c.named("the run of the present state comes after the missed ones"))

	// A client that comes back is told the state of the thread first, with all that the run has used.
	c = newScript(t, nil)
	c.state(wire.StateChange{
		State: wire.Completed, RunID: "r1", EnqueuedAt: moment(0), StartedAt: moment(1), EndedAt: moment(2),
		StopReason: wire.StopCompleted, TokensUsed: 15,
		Usage: &spool.TokenCount{InputTokens: 10, OutputTokens: 5, TotalTokens: 15},
	})
	c.turn("m1", "Hello")
	segment(c, "r1", 1)
	c.say("b1", "Hello, Ann.")
	c.step(1, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	cases = append(cases, c.named("the end of a run comes before its steps"))

	// An attempt that another one follows at once has no wait, as one that ends its run.
	c = missed(t, running)
	c.run = "r2"
	c.turn("m3", "And then?")
	segment(c, "r2", 1)
	c.end(wire.SegmentError, "model: overloaded (status 503)", 2*time.Second)
	segment(c, "r2", 2)
	c.end(wire.SegmentError, "model: overloaded (status 503)", 0)
	segment(c, "r2", 3)
	c.say("b1", "Then ")
	c.step(1, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	cases = append(cases, c.named("a missed run whose attempts have failed before it has finished"))

	// A missed run with a nested one, which waits and goes on.
	c = missed(t, running)
	c.run = "r2"
	c.turn("m3", "Ask the clerk")
	segment(c, "r2", 1)
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{
		SubagentID: "n1", Name: "clerk", Depth: 1, ParentID: "r2", CallID: "call_1",
	})
	c.end(wire.SegmentParked, "", 0)
	segment(c, "r2", 2)
	c.item(wire.ItemSubagentStarted, wire.SubagentStarted{
		SubagentID: "n1", Name: "clerk", Depth: 1, ParentID: "r2", CallID: "call_1",
	})
	c.item(wire.ItemSubagentFinished, wire.SubagentFinished{SubagentID: "n1", Status: wire.SubagentCompleted})
	c.step(1, "", "stop")
	c.end(wire.SegmentFinished, "", 0)
	cases = append(cases, c.named("a missed run with a nested one"))

	// A missed steer never had a segment.
	c = missed(t, running)
	c.run = "r2"
	c.turn("m3", "And then?")
	segment(c, "r2", 1)
	c.step(1, "", "tool-calls")
	c.turn("m4", "Left")
	c.entry(wire.EntrySteered, wire.Steered{RunID: "r2", SteerRunID: "r3", MessageID: "m4", Steps: 1})
	c.end(wire.SegmentFinished, "", 0)
	cases = append(cases, c.named("a missed run that was steered"))

	// A missed run has overtaken another one. Their entries say when each of them was accepted.
	accepted["r2"], accepted["r3"] = moment(11), moment(11).Add(100*time.Microsecond)
	c = missed(t, running)
	c.run = "r3"
	c.turn("m3", "This first")
	segment(c, "r3", 1)
	c.end(wire.SegmentStopped, "", 0)
	c.run = "r2"
	c.turn("m4", "And then?")
	segment(c, "r2", 1)
	c.end(wire.SegmentFinished, "", 0)
	cases = append(cases, c.named("a missed run that has overtaken another one"))

	// The client has left in the middle of a run, which failed.
	c = hello(t)
	c.say("b1", "Hel")
	c.state(running)
	c.item(wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentError, Error: "model: bad request (status 400)"})
	c.over(wire.SegmentError, "model: bad request (status 400)", 0)
	cases = append(cases, c.named("a run that has failed while the client was away"))

	// The present run has failed an attempt, and its state says what comes of that.
	c = hello(t)
	c.state(wire.StateChange{State: wire.Queued, RunID: "r1", StartedAt: moment(1)})
	c.item(wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentError, Error: "model: overloaded (status 503)"})
	c.over(wire.SegmentError, "model: overloaded (status 503)", 0)
	cases = append(cases, c.named("a failed attempt of the present run, which another one follows at once"))

	// The snapshot has a run that no worker has claimed, and only its entry says when one has.
	s := snap(wire.Queued, 0, userTurn("m1", "r1", "Hello"))
	waits := runRow("r1", "", wire.Queued)
	waits.StartedAt = waits.EnqueuedAt
	s.Runs = []wire.Run{waits}
	c = newScript(t, s)
	c.now = moment(10)
	segment(c, "r1", 1)
	cases = append(cases, c.named("a queued run begins, and no state says so"))
	return cases
}

// casesOfAnswers are those of servers that have agents without streams.
func casesOfAnswers(t *testing.T) []viewCase {
	t.Helper()

	var cases []viewCase
	text := map[string]any{"text": "Forty-two."}
	end := func(c *script) {
		c.at.Offset.N++
		c.add(json.RawMessage(`{"kind": "stream", "streamId": "r1:1", "item":
			{"type": "RUN_FINISHED", "status": "finished", "text": "Forty-two.", "offset": "`+c.at.Offset.String()+`"}}`), true)
	}
	c := hello(t)
	end(c)
	cases = append(cases, c.named("an answer at the end of a stream"))
	c.notice("TEXT_RESULT", text)
	cases = append(cases, c.named("an answer that comes twice"))

	c = hello(t)
	c.notice("TEXT_RESULT", text)
	c.notice("TEXT_RESULT", map[string]any{"text": ""})
	c.notice("TEXT_RESULT", nil)
	cases = append(cases, c.named("an answer in a notice"))
	c.turn("m3", "Again")
	c.notice("TEXT_RESULT", text)
	cases = append(cases, c.named("the same answer to another turn"))

	c = newScript(t, snap(wire.Running, 1, userTurn("m1", "r1", "Hello"),
		saved("m2", "r1", spool.RoleAssistant, spool.TextContent("Forty-two."))))
	c.at.Stream, c.at.Offset = "r1:1", wire.Offset{Fence: 1, N: 1}
	end(c)
	cases = append(cases, c.named("an answer that a snapshot has"))

	c = hello(t)
	c.notice(wire.NoticeMessageAppended, map[string]any{"role": "user", "content": "Nobody's", "runId": "r1"})
	c.notice(wire.NoticeMessageAppended, json.RawMessage(`{"id": "", "role": "user", "content": "Nobody's"}`))
	return append(cases, c.named("a turn without an id"))
}

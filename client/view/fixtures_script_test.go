package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// script writes the frames of a case in their order, with the ids that the server would give them.
type script struct {
	t      *testing.T
	start  json.RawMessage
	frames []framed
	at     wire.Cursor
	seq    int64
	now    time.Time
	run    spool.RunID
}

// newScript begins with an empty view, or with a snapshot.
func newScript(t *testing.T, s *wire.Snapshot) *script {
	t.Helper()

	c := &script{t: t, start: json.RawMessage("null"), at: wire.Cursor{Seq: -1}, now: moment(0), run: "r1"}
	if s != nil {
		c.start, c.at, c.seq = rawOf(t, s), s.Cursor(), max(0, s.LastEventSeq)
	}
	return c
}

func rawOf(t *testing.T, v any) json.RawMessage {
	t.Helper()

	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// moment returns a time of the cases.
func moment(seconds int) time.Time {
	return time.Date(2026, 11, 21, 9, 30, seconds, 0, time.UTC)
}

func (c *script) add(f any, moves bool) {
	c.t.Helper()

	framed := framed{Frame: rawOf(c.t, f)}
	if moves {
		id := c.at.String()
		framed.ID = &id
	}
	c.frames = append(c.frames, framed)
}

// entry adds an entry of the record.
func (c *script) entry(kind wire.EntryType, payload any) {
	c.t.Helper()

	c.seq++
	c.now = c.now.Add(time.Second)
	e := wire.Entry{ThreadID: "t1", Seq: c.seq, Type: kind, Payload: rawOf(c.t, payload), CreatedAt: c.now, RunID: c.run}
	c.at.Seq = c.seq
	if started, ok := payload.(wire.RunStarted); ok {
		c.at.Stream, c.at.Offset = started.StreamID, wire.Offset{}
	}
	c.add(wire.Frame{Kind: wire.FrameThread, Event: &e}, true)
}

// notice adds a notice.
func (c *script) notice(kind wire.EntryType, payload any) {
	c.t.Helper()

	e := wire.Entry{ThreadID: "t1", Type: kind, Payload: rawOf(c.t, payload), CreatedAt: c.now, RunID: c.run}
	c.add(wire.Frame{Kind: wire.FrameThread, Event: &e}, false)
}

// item adds an item of the open stream.
func (c *script) item(kind wire.ItemType, payload any) {
	c.t.Helper()

	c.at.Offset.N++
	it := wire.NewItem(kind, c.at.Offset, c.seq, payload)
	c.add(wire.Frame{Kind: wire.FrameStream, StreamID: c.at.Stream, Item: &it}, true)
}

// snapshot adds a snapshot frame. One of a run has the position that the client has.
func (c *script) snapshot(s *wire.Snapshot) {
	c.t.Helper()

	c.at = s.Cursor()
	c.seq = max(c.seq, s.LastEventSeq)
	c.add(wire.Frame{Kind: wire.FrameSnapshot, Snapshot: s}, true)
}

// begin starts a segment of the script's run.
func (c *script) begin(segment int) {
	c.t.Helper()

	stream := wire.NewStreamID(c.run, segment)
	c.entry(wire.EntryRunStarted, wire.RunStarted{RunID: c.run, StreamID: stream, Segment: segment})
	c.at.Offset.Fence = int64(segment)
	c.item(wire.ItemRunStarted, wire.StreamStarted{ThreadID: "t1", RunID: c.run, StreamID: stream, Segment: segment})
	c.state(wire.StateChange{State: wire.Running, RunID: c.run, StartedAt: moment(1)})
}

// end ends the segment with an item and an entry.
func (c *script) end(status wire.SegmentStatus, reason string, retry time.Duration) {
	c.t.Helper()

	if status == wire.SegmentError || status == wire.SegmentLost {
		c.item(wire.ItemRunError, wire.StreamFailed{Status: status, Error: reason, RetryAfterMS: retry.Milliseconds()})
	} else {
		c.item(wire.ItemRunFinished, wire.StreamFinished{Status: status})
	}
	c.over(status, reason, retry)
}

// over adds the entry that ends the segment.
func (c *script) over(status wire.SegmentStatus, reason string, retry time.Duration) {
	c.t.Helper()

	run, segment, _ := c.at.Stream.Split()
	c.entry(wire.EntryRunEnded, wire.RunEnded{
		RunID: run, StreamID: c.at.Stream, Segment: segment, Status: status, Error: reason,
		RetryAfterMS: retry.Milliseconds(),
	})
}

func (c *script) state(s wire.StateChange) {
	c.t.Helper()

	c.notice(wire.NoticeStateChange, s)
}

// turn adds a turn of the user.
func (c *script) turn(id spool.MessageID, text string) {
	c.t.Helper()

	c.notice(wire.NoticeMessageAppended, userTurn(id, c.run, text))
}

// say adds pieces of a text.
func (c *script) say(block string, pieces ...string) {
	c.t.Helper()

	c.item(wire.ItemTextStart, wire.Block{MessageID: block, Role: spool.RoleAssistant})
	for _, p := range pieces {
		c.item(wire.ItemTextContent, wire.Delta{MessageID: block, Delta: p})
	}
}

// call adds a complete call of a tool.
func (c *script) call(id spool.ToolCallID, name, args string) {
	c.t.Helper()

	c.item(wire.ItemToolStart, wire.ToolStarted{ToolCallID: id, ToolName: name})
	c.item(wire.ItemToolEnd, wire.ToolEnded{ToolCallID: id, ToolName: name, Args: json.RawMessage(args)})
}

func (c *script) result(id spool.ToolCallID, name, result string) {
	c.t.Helper()

	c.item(wire.ItemToolResult, wire.ToolResulted{ToolCallID: id, ToolName: name, Result: json.RawMessage(result)})
}

// nested adds something that a nested run says.
func (c *script) nested(agent spool.AgentID, kind wire.ItemType, payload any) {
	c.t.Helper()

	c.item(wire.ItemSubagentEvent, wire.WrapItem(agent, kind, payload))
}

// step ends a step of an agent, "" for the run's own.
func (c *script) step(n int, agent spool.AgentID, reason string) {
	c.t.Helper()

	s := wire.StepFinished{
		Step: n, FinishReason: reason, Usage: spool.TokenCount{InputTokens: 10, OutputTokens: 5, TotalTokens: 15},
	}
	if agent != "" {
		s.AgentID = &agent
	}
	c.item(wire.ItemStepFinished, s)
}

// named returns the case so far. The script goes on.
func (c *script) named(name string) viewCase {
	return viewCase{Name: name, Snapshot: c.start, Frames: append([]framed(nil), c.frames...)}
}

func userTurn(id spool.MessageID, run spool.RunID, text string) spool.Message {
	return saved(id, run, spool.RoleUser, spool.TextContent(text))
}

func saved(id spool.MessageID, run spool.RunID, role spool.Role, content spool.Content) spool.Message {
	return spool.Message{ID: id, ThreadID: "t1", Role: role, RunID: run, Content: content, CreatedAt: moment(5)}
}

// snap returns a snapshot of the thread.
func snap(state wire.State, seq int64, messages ...spool.Message) *wire.Snapshot {
	if messages == nil {
		messages = []spool.Message{}
	}
	return &wire.Snapshot{
		Thread: wire.Thread{
			ID: "t1", State: state, Model: "demo", Title: "Hello", CreatedAt: moment(0), UpdatedAt: moment(6),
		},
		Messages: messages, Runs: []wire.Run{}, LastEventSeq: seq, ActiveEvents: []wire.Entry{},
	}
}

// snapRun returns the snapshot of one run, at the client's position in its stream.
func (c *script) snapRun(
	state wire.State, after spool.MessageID, runs []wire.Run, messages ...spool.Message,
) *wire.Snapshot {
	s := snap(state, c.seq, messages...)
	s.AfterMessageID, s.Runs = &after, runs
	if c.at.Stream != "" {
		run, _, _ := c.at.Stream.Split()
		at := c.at.Offset
		s.Stream = &wire.StreamSnapshot{StreamID: c.at.Stream, RunID: run, Items: []wire.Item{}, Offset: &at}
	}
	return s
}

// runRow returns a run as a snapshot has it.
func runRow(id, parent spool.RunID, state wire.State) wire.Run {
	r := wire.Run{
		ID: id, ThreadID: "t1", Agent: "assistant", Model: "demo", State: state, EnqueuedAt: moment(0), StartedAt: moment(1),
	}
	if parent != "" {
		r.ParentID, r.CallID, r.Depth, r.Agent, r.Prompt = parent, "call_1", 1, "clerk", "Find it"
	}
	if state.Terminal() {
		r.EndedAt = moment(4)
	}
	return r
}

package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// script writes the frames of a case in their order, with the ids that the server would give them.
type script struct {
	t      *testing.T
	start  json.RawMessage
	frames []framed
	at     spool.Cursor
	seq    int64
	now    time.Time
	run    spool.RunID
}

// newScript begins with an empty view, or with a snapshot.
func newScript(t *testing.T, s *spool.Snapshot) *script {
	t.Helper()

	c := &script{t: t, start: json.RawMessage("null"), at: spool.Cursor{Seq: -1}, now: moment(0), run: "r1"}
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
func (c *script) entry(kind spool.EntryType, payload any) {
	c.t.Helper()

	c.seq++
	c.now = c.now.Add(time.Second)
	e := spool.Entry{ThreadID: "t1", Seq: c.seq, Type: kind, Payload: rawOf(c.t, payload), CreatedAt: c.now, RunID: c.run}
	c.at.Seq = c.seq
	if started, ok := payload.(spool.RunStarted); ok {
		c.at.Stream, c.at.Offset = started.StreamID, spool.Offset{}
	}
	c.add(spool.Frame{Kind: spool.FrameThread, Event: &e}, true)
}

// notice adds a notice.
func (c *script) notice(kind spool.EntryType, payload any) {
	c.t.Helper()

	e := spool.Entry{ThreadID: "t1", Type: kind, Payload: rawOf(c.t, payload), CreatedAt: c.now, RunID: c.run}
	c.add(spool.Frame{Kind: spool.FrameThread, Event: &e}, false)
}

// item adds an item of the open stream.
func (c *script) item(kind spool.ItemType, payload any) {
	c.t.Helper()

	c.at.Offset.N++
	it := spool.NewItem(kind, c.at.Offset, c.seq, payload)
	c.add(spool.Frame{Kind: spool.FrameStream, StreamID: c.at.Stream, Item: &it}, true)
}

// snapshot adds a snapshot frame. One of a run has the position that the client has.
func (c *script) snapshot(s *spool.Snapshot) {
	c.t.Helper()

	c.at = s.Cursor()
	c.seq = max(c.seq, s.LastEventSeq)
	c.add(spool.Frame{Kind: spool.FrameSnapshot, Snapshot: s}, true)
}

// begin starts a segment of the script's run.
func (c *script) begin(segment int) {
	c.t.Helper()

	stream := spool.NewStreamID(c.run, segment)
	c.entry(spool.EntryRunStarted, spool.RunStarted{RunID: c.run, StreamID: stream, Segment: segment})
	c.at.Offset.Fence = int64(segment)
	c.item(spool.ItemRunStarted, spool.StreamStarted{ThreadID: "t1", RunID: c.run, StreamID: stream, Segment: segment})
	c.state(spool.StateChange{State: spool.Running, RunID: c.run, StartedAt: moment(1)})
}

// end ends the segment with an item and an entry.
func (c *script) end(status spool.SegmentStatus, reason string, retry time.Duration) {
	c.t.Helper()

	if status == spool.SegmentError || status == spool.SegmentLost {
		c.item(spool.ItemRunError, spool.StreamFailed{Status: status, Error: reason, RetryAfterMS: retry.Milliseconds()})
	} else {
		c.item(spool.ItemRunFinished, spool.StreamFinished{Status: status})
	}
	c.over(status, reason, retry)
}

// over adds the entry that ends the segment.
func (c *script) over(status spool.SegmentStatus, reason string, retry time.Duration) {
	c.t.Helper()

	run, segment, _ := c.at.Stream.Split()
	c.entry(spool.EntryRunEnded, spool.RunEnded{
		RunID: run, StreamID: c.at.Stream, Segment: segment, Status: status, Error: reason, RetryAfterMS: retry.Milliseconds(),
	})
}

func (c *script) state(s spool.StateChange) {
	c.t.Helper()

	c.notice(spool.NoticeStateChange, s)
}

// turn adds a turn of the user.
func (c *script) turn(id spool.MessageID, text string) {
	c.t.Helper()

	c.notice(spool.NoticeMessageAppended, userTurn(id, c.run, text))
}

// say adds pieces of a text.
func (c *script) say(block string, pieces ...string) {
	c.t.Helper()

	c.item(spool.ItemTextStart, spool.Block{MessageID: block, Role: spool.RoleAssistant})
	for _, p := range pieces {
		c.item(spool.ItemTextContent, spool.Delta{MessageID: block, Delta: p})
	}
}

// call adds a complete call of a tool.
func (c *script) call(id spool.ToolCallID, name, args string) {
	c.t.Helper()

	c.item(spool.ItemToolStart, spool.ToolStarted{ToolCallID: id, ToolName: name})
	c.item(spool.ItemToolEnd, spool.ToolEnded{ToolCallID: id, ToolName: name, Args: json.RawMessage(args)})
}

func (c *script) result(id spool.ToolCallID, name, result string) {
	c.t.Helper()

	c.item(spool.ItemToolResult, spool.ToolResulted{ToolCallID: id, ToolName: name, Result: json.RawMessage(result)})
}

// nested adds something that a nested run says.
func (c *script) nested(agent spool.AgentID, kind spool.ItemType, payload any) {
	c.t.Helper()

	c.item(spool.ItemSubagentEvent, spool.WrapItem(agent, kind, payload))
}

// step ends a step of an agent, "" for the run's own.
func (c *script) step(n int, agent spool.AgentID, reason string) {
	c.t.Helper()

	s := spool.StepFinished{Step: n, FinishReason: reason, Usage: spool.TokenCount{InputTokens: 10, OutputTokens: 5, TotalTokens: 15}}
	if agent != "" {
		s.AgentID = &agent
	}
	c.item(spool.ItemStepFinished, s)
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
func snap(state spool.State, seq int64, messages ...spool.Message) *spool.Snapshot {
	if messages == nil {
		messages = []spool.Message{}
	}
	return &spool.Snapshot{
		Thread:   spool.Thread{ID: "t1", State: state, Model: "demo", Title: "Hello", CreatedAt: moment(0), UpdatedAt: moment(6)},
		Messages: messages, Runs: []spool.Run{}, LastEventSeq: seq, ActiveEvents: []spool.Entry{},
	}
}

// snapRun returns the snapshot of one run, at the client's position in its stream.
func (c *script) snapRun(state spool.State, after spool.MessageID, runs []spool.Run, messages ...spool.Message) *spool.Snapshot {
	s := snap(state, c.seq, messages...)
	s.AfterMessageID, s.Runs = &after, runs
	if c.at.Stream != "" {
		run, _, _ := c.at.Stream.Split()
		at := c.at.Offset
		s.Stream = &spool.StreamSnapshot{StreamID: c.at.Stream, RunID: run, Items: []spool.Item{}, Offset: &at}
	}
	return s
}

// runRow returns a run as a snapshot has it.
func runRow(id, parent spool.RunID, state spool.State) spool.Run {
	r := spool.Run{ID: id, ThreadID: "t1", Agent: "assistant", Model: "demo", State: state, EnqueuedAt: moment(0), StartedAt: moment(1)}
	if parent != "" {
		r.ParentID, r.CallID, r.Depth, r.Agent, r.Prompt = parent, "call_1", 1, "clerk", "Find it"
	}
	if state.Terminal() {
		r.EndedAt = moment(4)
	}
	return r
}

package spool

import (
	"encoding/json"
	"strconv"
)

// FrameKind names a kind of [Frame].
type FrameKind string

// The kinds of frame.
const (
	// FrameThread carries a record entry or a notice.
	FrameThread FrameKind = "thread"
	// FrameStream carries an item of a run stream.
	FrameStream FrameKind = "stream"
	// FrameSnapshot stands for all that the client has missed and that is gone.
	FrameSnapshot FrameKind = "snapshot"
)

// Frame is one message of a thread's live stream.
type Frame struct {
	Kind FrameKind
	// Event of a thread frame.
	Event *Entry
	// StreamID and Item of a stream frame.
	StreamID StreamID
	Item     *Item
	// Snapshot of a snapshot frame.
	Snapshot *Snapshot
	// Cursor is where a reader stands once it has the frame. It is not on the wire as
	// such but as the id of the message; nil for a notice, which moves nothing.
	Cursor *Cursor
}

// MarshalJSON writes the three wire forms.
func (f Frame) MarshalJSON() ([]byte, error) {
	switch f.Kind {
	case FrameStream:
		if f.Item == nil {
			return nil, Errorf(Internal, "a stream frame has no item")
		}
		b := make([]byte, 0, len(f.Item.Data)+len(f.StreamID)+48)
		b = append(b, `{"kind":"stream","streamId":`...)
		b = strconv.AppendQuoteToASCII(b, string(f.StreamID)) // of an id, that is JSON: see CheckID
		b = append(b, `,"item":`...)
		b = append(b, f.Item.Data...)
		return append(b, '}'), nil
	case FrameSnapshot:
		return json.Marshal(struct {
			Kind     FrameKind `json:"kind"`
			Snapshot *Snapshot `json:"snapshot"`
		}{f.Kind, f.Snapshot})
	default:
		return json.Marshal(struct {
			Kind  FrameKind `json:"kind"`
			Event *Entry    `json:"event"`
		}{f.Kind, f.Event})
	}
}

// UnmarshalJSON reads the three wire forms. The cursor is not among them.
func (f *Frame) UnmarshalJSON(b []byte) error {
	var in struct {
		Kind     FrameKind `json:"kind"`
		Event    *Entry    `json:"event"`
		StreamID StreamID  `json:"streamId"`
		Item     *Item     `json:"item"`
		Snapshot *Snapshot `json:"snapshot"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if run, _, ok := in.StreamID.Split(); in.Kind == FrameStream && (in.Item == nil || !ok || CheckID("streamId", string(run)) != nil) {
		return Errorf(Invalid, "a stream frame needs an item and the id of a stream")
	}
	*f = Frame{Kind: in.Kind, Event: in.Event, StreamID: in.StreamID, Item: in.Item, Snapshot: in.Snapshot}
	return nil
}

// Snapshot is all that a client needs to show a thread: it renders the messages,
// applies the active events, shows the stream's items behind the messages, and follows
// from [Snapshot.Cursor].
type Snapshot struct {
	Thread   Thread    `doc:"The thread."   json:"thread"`
	Messages []Message `doc:"Its messages." json:"messages"`
	// AfterMessageID says that the snapshot is of one run: Messages are only those behind
	// this one, empty being the beginning of the thread, and Runs only those of the run. A
	// client keeps the messages that it has up to there. Nil: Messages are all, or all
	// behind the last one that the client said it has.
	AfterMessageID *MessageID `doc:"Only in a frame of one run: the message before those of the run." json:"afterMessageId,omitempty" nullable:"false"`
	// Runs are the newest runs of the thread, the newest first.
	Runs []Run `doc:"Its newest runs, the newest first." json:"runs"`
	// LastEventSeq is the last seq of the record, -1 when there is none.
	LastEventSeq int64 `doc:"The last seq of the record, -1 when there is none." json:"lastEventSeq"`
	// ActiveEvents are the record entries of the unfinished run, less those about calls that
	// do not wait for an answer any more.
	ActiveEvents []Entry `doc:"The entries of the run that is not finished, less those about calls that do not wait any more." json:"activeEvents"`
	// Queue are the runs that wait for the thread, the next one first.
	Queue []QueuedRun `doc:"The runs that wait for the thread, the next one first. Left out: none does." json:"queue,omitempty"`
	// Stream is the latest segment's run stream until the record has ended the segment, and
	// while the stream is there for a minute more. Without items if it was lost before. Nil:
	// neither.
	Stream *StreamSnapshot `doc:"What the run says at the moment, as far as the messages lack it. Null: nothing." json:"stream" required:"true"`
}

// StreamSnapshot is a run stream less what the messages already have.
type StreamSnapshot struct {
	StreamID StreamID `doc:"The stream's id."        json:"streamId"`
	RunID    RunID    `doc:"The run that writes it." json:"runId"`
	Items    []Item   `doc:"Its items, in order."    json:"items"`
	// End is the stream's last item once it has ended, and is then the last of Items
	// too. Nil: it is open.
	End *Item `doc:"Its last item. Null: it has not ended." json:"end" required:"true"`
	// Offset is the last offset held. Nil: the stream is empty.
	Offset *Offset `doc:"The offset of its last item." json:"offset" required:"true"`
}

// Cursor returns where a client that has the snapshot goes on.
func (s *Snapshot) Cursor() Cursor {
	c := Cursor{Seq: s.LastEventSeq}
	if s.Stream != nil {
		c.Stream = s.Stream.StreamID
		if s.Stream.Offset != nil {
			c.Offset = *s.Stream.Offset
		}
	}
	return c
}

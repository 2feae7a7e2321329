package wire

import (
	"encoding/json"
	"strconv"

	"github.com/spoolhq/spool"
)

// FrameKind names a kind of [Frame].
type FrameKind string

// The kinds of frame.
const (
	// FrameThread has a record entry or a notice.
	FrameThread FrameKind = "thread"
	// FrameStream has an item of a run stream.
	FrameStream FrameKind = "stream"
	// FrameSnapshot has a snapshot. It replaces the frames that the client has missed and that are gone, or
	// corrects what the client shows of one run.
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
	// Cursor is the reader's position after the frame. On the wire it is the id of the SSE message,
	// and no field of the frame. Nil for a notice, which does not move the cursor.
	Cursor *Cursor
}

// MarshalJSON writes the three wire forms.
func (f Frame) MarshalJSON() ([]byte, error) {
	switch f.Kind {
	case FrameStream:
		if f.Item == nil {
			return nil, spool.Errorf(spool.Internal, "a stream frame has no item")
		}
		b := make([]byte, 0, len(f.Item.Data)+len(f.StreamID)+48)
		b = append(b, `{"kind":"stream","streamId":`...)
		b = strconv.AppendQuoteToASCII(b, string(f.StreamID)) // valid JSON, because CheckID allows nothing to escape
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

// UnmarshalJSON reads the three wire forms. It leaves Cursor nil.
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
	if run, _, ok := in.StreamID.Split(); in.Kind == FrameStream &&
		(in.Item == nil || !ok || spool.CheckID("streamId", string(run)) != nil) {
		return spool.Errorf(spool.Invalid, "a stream frame needs an item and the id of a stream")
	}
	*f = Frame{Kind: in.Kind, Event: in.Event, StreamID: in.StreamID, Item: in.Item, Snapshot: in.Snapshot}
	return nil
}

// Snapshot is everything that a client needs to show a thread. The client renders the messages,
// applies the active events, shows the stream's items after the messages, and follows from
// [Snapshot.Cursor].
type Snapshot struct {
	Thread   Thread          `json:"thread"`   // The thread.
	Messages []spool.Message `json:"messages"` // Its messages.
	// Only in the snapshot of one run: the message before those of the run.
	//
	// Messages then has the run's messages only, which come after this message; empty means the beginning of the
	// thread. Runs has the run, those nested in it, and the thread's present run. A client keeps its messages up to
	// AfterMessageID. Nil: this is a snapshot of the thread, with all messages or with those after the client's last
	// one.
	AfterMessageID *spool.MessageID `json:"afterMessageId,omitempty" nullable:"false"`
	// Runs are its newest runs, the newest first.
	Runs []Run `json:"runs"`
	// LastEventSeq is the last seq of the record, -1 when there is none.
	LastEventSeq int64 `json:"lastEventSeq"`
	// ActiveEvents are the entries of the unfinished run, without MESSAGES_DROPPED and those about calls that no
	// longer wait.
	ActiveEvents []Entry `json:"activeEvents"`
	// Queue are the runs that wait for the thread, the next one first. Left out: none waits.
	Queue []QueuedRun `json:"queue,omitempty"`
	// Stream is the run stream of the latest segment, without what the messages have. Null: there is none.
	//
	// Until its RUN_ENDED entry and, while storage keeps the stream, for a minute more. It has no items if the
	// stream was lost before the entry.
	Stream *StreamSnapshot `json:"stream" required:"true"`
}

// StreamSnapshot is a run stream without what the messages already have.
type StreamSnapshot struct {
	StreamID StreamID    `json:"streamId"` // The stream's id.
	RunID    spool.RunID `json:"runId"`    // The run that writes it.
	Items    []Item      `json:"items"`    // Its items, in order.
	// End is its last item, once it has ended. Null: it is open.
	//
	// It is also the last of Items.
	End *Item `json:"end" required:"true"`
	// Offset is the offset of its last item.
	//
	// Nil: the stream is empty. If the stream could not be read and agents have saved parts of it side by side, it
	// is the offset before the first item, and a client that comes back with it gets another snapshot.
	Offset *Offset `json:"offset" required:"true"`
	// Saved is the offset of the last item that the messages contain, if Offset does not say it.
	Saved Offset `json:"-"`
}

// Cursor returns the position from which a client with this snapshot follows.
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

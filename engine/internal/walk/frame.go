package walk

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Progress says how far a walker or a client has read.
type Progress struct {
	At wire.Cursor
	// Turn is the last user turn that the client has of those right after the entry at At.Seq. Empty:
	// none.
	Turn spool.MessageID
	// Reading is true until the walker has read the end of the stream At.Stream.
	Reading bool
}

// Position returns the progress in a form that can be compared.
func (s Progress) Position() Position {
	p := Position{Seq: s.At.Seq, Turn: s.Turn}
	if s.Reading {
		p.stream, p.offset = s.At.Stream, s.At.Offset
	}
	return p
}

// Position is a walker's progress, for comparison with another walker's. The stream counts only while
// it is being read.
type Position struct {
	Seq    int64
	Turn   spool.MessageID
	stream wire.StreamID
	offset wire.Offset
}

// Record returns the position of a walker that reads no streams.
func (p Position) Record() Position { return Position{Seq: p.Seq, Turn: p.Turn} }

// PositionedFrame is a frame with the walker's progress after it.
type PositionedFrame struct {
	wire.Frame
	Progress

	// Encoded is the whole snapshot as JSON, or nil. If it is set, the frame's Snapshot has only a few
	// of the messages.
	Encoded *wire.EncodedSnapshot
	// Formed is the same in the form of another protocol.
	Formed *wire.FormedSnapshot
	// Notice is true for frames that have no position in the order: states and live events.
	Notice bool
	// Past is true for the end state of a run that does not have the thread any more.
	Past bool
}

// IsSnapshot reports whether the frame is a snapshot of a thread or of a run.
func (f PositionedFrame) IsSnapshot() bool { return f.Kind == wire.FrameSnapshot }

// IsTurn reports whether the frame is a user turn.
func (f PositionedFrame) IsTurn() bool {
	return f.Kind == wire.FrameThread && f.Event.Seq == 0 && f.Event.Type == wire.NoticeMessageAppended
}

package walk

import "github.com/spoolhq/spool"

// Stand is where a walker stands, or a client.
type Stand struct {
	At spool.Cursor
	// Turn is the last user turn behind the entry at At.Seq that the client has. Empty: none.
	Turn spool.MessageID
	// Reading is true while the stream At.Stream has more to come.
	Reading bool
}

// Position returns the place for comparison.
func (s Stand) Position() Position {
	p := Position{Seq: s.At.Seq, Turn: s.Turn}
	if s.Reading {
		p.stream, p.offset = s.At.Stream, s.At.Offset
	}
	return p
}

// Position is where a walker stands, for comparison with another's. A stream counts only
// while it is read.
type Position struct {
	Seq    int64
	Turn   spool.MessageID
	stream spool.StreamID
	offset spool.Offset
}

// Record returns the position of a walker that reads no streams.
func (p Position) Record() Position { return Position{Seq: p.Seq, Turn: p.Turn} }

// Placed is a frame, and where it leaves the walker.
type Placed struct {
	spool.Frame
	Stand

	// Encoded is the snapshot of a frame whose Snapshot has few messages. Nil: it has all.
	Encoded *spool.EncodedSnapshot
	// Formed is the same for a client of another protocol.
	Formed *spool.FormedSnapshot
	// Notice is true for what has no place in the order: the state, and live events.
	Notice bool
	// Past is true for the state in which a run has ended that does not have the thread any
	// more.
	Past bool
}

// IsSnapshot reports whether the frame tells of a thread or a run as a whole.
func (f Placed) IsSnapshot() bool { return f.Kind == spool.FrameSnapshot }

// IsTurn reports whether the frame tells of a user turn.
func (f Placed) IsTurn() bool {
	return f.Kind == spool.FrameThread && f.Event.Seq == 0 && f.Event.Type == spool.NoticeMessageAppended
}

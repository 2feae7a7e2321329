package walk

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/snapshot"
)

// Placed is a frame, and where it leaves the walker.
type Placed struct {
	spool.Frame

	At      spool.Cursor
	Turn    spool.MessageID
	Reading bool // whether the stream At.Stream has more to come
	// Encoded is the snapshot of a frame whose Snapshot has few messages. Nil: it has all.
	Encoded *snapshot.Encoded
	// Formed is the same for a client of another protocol.
	Formed *snapshot.Formed
	// Notice is true for what has no place in the order: the state, and live events.
	Notice bool
	// Past is true for the state in which a run has ended that does not have the thread any
	// more.
	Past bool
}

// IsSnapshot reports whether the frame tells of a thread or a run as a whole.
func (f Placed) IsSnapshot() bool { return f.Kind == spool.FrameSnapshot }

// Position is where a walker stands, for comparison with another's. A stream counts only
// while it is read.
type Position struct {
	Seq    int64
	Turn   spool.MessageID // the last user turn behind the entry that the client has, empty for none
	stream spool.StreamID
	offset spool.Offset
}

func positionAt(at spool.Cursor, turn spool.MessageID, reading bool) Position {
	if !reading {
		return Position{Seq: at.Seq, Turn: turn}
	}
	return Position{at.Seq, turn, at.Stream, at.Offset}
}

// Position returns where the frame leaves its walker.
func (f Placed) Position() Position { return positionAt(f.At, f.Turn, f.Reading) }

// Record returns the position of a walker that reads no streams.
func (p Position) Record() Position { return Position{Seq: p.Seq, Turn: p.Turn} }

// IsTurn reports whether the frame tells of a user turn.
func (f Placed) IsTurn() bool {
	return f.Kind == spool.FrameThread && f.Event.Seq == 0 && f.Event.Type == spool.NoticeMessageAppended
}

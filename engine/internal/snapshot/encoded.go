package snapshot

import "github.com/spoolhq/spool"

// Encoded is a [spool.Snapshot] as JSON, whose bytes are shared with other clients.
// The caller must call Release once it has sent them.
type Encoded struct {
	// Pieces are the JSON, one behind the other. They must not be changed, and not be used
	// after Release.
	Pieces [][]byte
	// Size is the number of bytes in all pieces.
	Size int64

	rest    *spool.Snapshot
	release func()
}

// Rest returns what a follower has to know of the snapshot: the thread, the cursor, the stream's
// end, and the messages behind the last entry. It must not be changed.
func (s *Encoded) Rest() *spool.Snapshot { return s.rest }

// Release says that the pieces are not used any more. It may be called more than once.
func (s *Encoded) Release() {
	if s != nil {
		s.release()
	}
}

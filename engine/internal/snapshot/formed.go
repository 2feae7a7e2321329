package snapshot

import "github.com/spoolhq/spool"

// Formed is a snapshot in a [spool.SnapshotForm]. Other clients have the same one, so
// nothing of it may be changed. The caller must call Release once it has sent it.
type Formed struct {
	// Snapshot is the snapshot. Of its messages it has those behind the last entry of the
	// record, without content.
	*spool.Snapshot

	// Shared is what [spool.SnapshotForm.Finish] returned.
	Shared any

	list    *encodedList
	release func()
}

// First returns the first n messages as the elements of a JSON array, in pieces that must
// not be used after Release.
func (s *Formed) First(n int) [][]byte { return s.list.first(n) }

// All returns all messages, as First does.
func (s *Formed) All() [][]byte { return s.list.first(len(s.list.index)) }

// Before returns the messages that were saved when seq was the last entry of the record, as
// First does.
func (s *Formed) Before(seq int64) [][]byte {
	for i, m := range s.list.index {
		if m.after > seq {
			return s.list.first(i)
		}
	}
	return s.All()
}

// Release says that the snapshot is not used any more. It may be called more than once.
func (s *Formed) Release() {
	if s != nil {
		s.release()
	}
}

// first returns the first n messages, as the elements of a JSON array, in pieces.
func (l *encodedList) first(n int) (pieces [][]byte) {
	if n == 0 {
		return nil
	}
	last := l.index[n-1]
	for at, block := range l.blocks[:last.block+1] {
		if at == last.block {
			block = block[:last.to]
		}
		if len(block) > 0 {
			pieces = append(pieces, block)
		}
	}
	if len(pieces) > 0 {
		pieces[0] = pieces[0][len(","):]
	}
	return pieces
}

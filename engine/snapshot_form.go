package engine

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// SnapshotForm encodes snapshots for clients of another protocol. Each message is encoded
// once, in the order of the thread, however many clients ask for the thread.
//
// A value encodes the message behind those that were encoded before it, and does not
// change. Callers pass the value for the first message, which must be comparable and always
// the same: it names the form.
type SnapshotForm interface {
	// AppendMessage appends what the message becomes: elements of a JSON array, each with a
	// comma before it, or nothing. It returns the form for the message behind it.
	AppendMessage(b []byte, m spool.Message) (_ []byte, next SnapshotForm, err error)
	// Finish is called behind the last message of a snapshot. It returns what clients share
	// beside the messages, and roughly how many bytes that takes. The snapshot has no
	// messages.
	Finish(s *spool.Snapshot) (shared any, size int64, err error)
}

// FormedSnapshot is a snapshot in a [SnapshotForm]. Other clients have the same one, so
// nothing of it may be changed. The caller must call Release once it has sent it.
type FormedSnapshot struct {
	// Snapshot is the snapshot. Of its messages it has those behind the last entry of the
	// record, without content.
	*spool.Snapshot

	// Shared is what [SnapshotForm.Finish] returned.
	Shared any

	list    *encodedList
	release func()
}

// First returns the first n messages as the elements of a JSON array, in pieces that must
// not be used after Release.
func (s *FormedSnapshot) First(n int) [][]byte { return s.list.first(n) }

// All returns all messages, as First does.
func (s *FormedSnapshot) All() [][]byte { return s.list.first(len(s.list.index)) }

// Before returns the messages that were saved when seq was the last entry of the record, as
// First does.
func (s *FormedSnapshot) Before(seq int64) [][]byte {
	for i, m := range s.list.index {
		if m.after > seq {
			return s.list.first(i)
		}
	}
	return s.All()
}

// Release says that the snapshot is not used any more. It may be called more than once.
func (s *FormedSnapshot) Release() {
	if s != nil {
		s.release()
	}
}

// FormedSnapshot returns what [Engine.Snapshot] returns, in another form. Clients share it
// as they share the bytes of [Engine.EncodedSnapshot], with the same bounds and errors.
func (e *Engine) FormedSnapshot(ctx context.Context, key spool.ThreadKey, form SnapshotForm) (*FormedSnapshot, error) {
	if err := e.checkOwner(ctx, key); err != nil {
		return nil, err
	}
	s, err := e.snapshots.get(withoutOwner(ctx), snapshotKey{key, form})
	if err != nil {
		return nil, err
	}
	if err := e.checkOwner(ctx, key); err != nil { // another's, which was made meanwhile
		e.snapshots.release(s)
		return nil, err
	}
	return &FormedSnapshot{
		Snapshot: s.rest, Shared: s.shared, list: s.list,
		release: sync.OnceFunc(func() { e.snapshots.release(s) }),
	}, nil
}

// FormedFrame is a frame whose snapshot is in another form.
type FormedFrame struct {
	spool.Frame

	// Formed is the snapshot of a frame that tells of the whole thread, which the caller must
	// release. Nil: it is another frame.
	Formed *FormedSnapshot
}

// FormedFollower is a client that follows a thread with the snapshots of whole threads in another
// form. It is for one goroutine.
type FormedFollower struct {
	f    *follower
	over bool
}

// FollowFormed follows as [Engine.Follow] does, with the snapshots of whole threads in another form.
// It returns once the follower has its place: none of the live events that are published from then on
// is missed. It returns the errors with which Follow may begin. The caller must call Frames or Close.
func (e *Engine) FollowFormed(ctx context.Context, key spool.ThreadKey, o FollowOptions, form SnapshotForm) (*FormedFollower, error) {
	f, err := e.followWith(ctx, key, o, walker{form: form})
	if err != nil {
		return nil, err
	}
	return &FormedFollower{f: f}, nil
}

// Close ends the follower. It may be called more than once, and behind Frames.
func (f *FormedFollower) Close() {
	if !f.over {
		f.over = true
		f.f.close()
	}
}

// Frames yields the frames as [Engine.Follow] does, those that are there at the same time in one
// batch, and closes the follower. A follower that is closed yields nothing. A batch is good until the
// next one. An empty batch says that nothing has come for as long as idle; a zero idle yields none.
func (f *FormedFollower) Frames(ctx context.Context, idle time.Duration) iter.Seq2[[]FormedFrame, error] {
	return func(yield func([]FormedFrame, error) bool) {
		if f.over {
			return
		}
		f.over = true
		f.f.batches(ctx, idle, func(frames []ringFrame, err error) bool {
			shared, _ := formedBatches.Get().(*[maxBatch]FormedFrame)
			batch := shared[:0]
			for i := range frames {
				batch = append(batch, FormedFrame{frames[i].Frame, frames[i].formed})
			}
			more := yield(batch, err)
			clear(shared[:])
			formedBatches.Put(shared)
			return more
		})
	}
}

// formedBatches are shared, so that a client that waits holds none.
var formedBatches = sync.Pool{New: func() any { return new([maxBatch]FormedFrame) }}

// addFormed adds a message in the list's form.
func (l *encodedList) addFormed(m spool.Message, scratch *[]byte) error {
	text, next, err := l.form.AppendMessage((*scratch)[:0], m)
	if err != nil {
		return err
	}
	*scratch, l.form = text[:0], next
	b := l.room(len(text))
	from := len(*b)
	*b = append(*b, text...)
	l.index = append(l.index, encodedMessage{id: m.ID, block: len(l.blocks) - 1, from: from, to: len(*b), after: m.AfterSeq})
	l.size += indexCost
	return nil
}

// addAll adds the messages that q selects.
func (l *encodedList) addAll(v spool.View, q spool.MessageQuery) error {
	if l.form == nil {
		return record.Encoded(v).EachMessage(q, l.add)
	}
	var scratch []byte
	if encoded, ok := v.(spool.EncodedMessages); ok {
		return encoded.EachMessage(q, func(m spool.Message, content []byte) error {
			if err := json.Unmarshal(content, &m.Content); err != nil {
				return spool.Wrap(spool.Internal, "a message cannot be decoded", err)
			}
			return l.addFormed(m, &scratch)
		})
	}
	all, err := v.Messages(q)
	for i := 0; i < len(all) && err == nil; i++ {
		err = l.addFormed(all[i], &scratch)
	}
	return err
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

// finish completes a state in another form.
func (s *encodedState) finish(snap *spool.Snapshot) error {
	shared, size, err := s.list.form.Finish(snap)
	if err != nil {
		return err
	}
	for _, e := range snap.ActiveEvents {
		size += int64(len(e.Payload)) + indexCost
	}
	if snap.Stream != nil {
		for _, item := range snap.Stream.Items {
			size += int64(len(item.Data)) + indexCost
		}
	}
	s.shared, s.formed = shared, size
	return nil
}

// releaseFormed releases the snapshots of frames that nobody has got.
func releaseFormed(frames []ringFrame) {
	for i := range frames {
		frames[i].formed.Release()
	}
}

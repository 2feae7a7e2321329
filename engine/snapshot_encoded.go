package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/spoolhq/spool"
)

// EncodedSnapshot is a [spool.Snapshot] as JSON, whose bytes are shared with other clients.
// The caller must call Release once it has sent them.
type EncodedSnapshot struct {
	// Pieces are the JSON, one behind the other. They must not be changed, and not be used
	// after Release.
	Pieces [][]byte
	// Size is the number of bytes in all pieces.
	Size int64

	// rest is what a walker has to know of the snapshot.
	rest    *spool.Snapshot
	release func()
}

// Release says that the pieces are not used any more. It may be called more than once.
func (s *EncodedSnapshot) Release() {
	if s != nil {
		s.release()
	}
}

// EncodedSnapshot returns what [Engine.Snapshot] returns, encoded. All callers who ask at
// the same time share one read of the thread and its bytes. The messages are encoded once
// for as long as they are asked for.
//
// Beside the errors of Snapshot, it returns an [spool.Unavailable] error when the snapshots
// that are being sent take [Config.SnapshotMemory] for longer than ten seconds.
func (e *Engine) EncodedSnapshot(ctx context.Context, key spool.ThreadKey, o *SnapshotOptions) (*EncodedSnapshot, error) {
	if o == nil {
		o = &SnapshotOptions{}
	}
	if err := e.checkOwner(ctx, key); err != nil {
		return nil, err
	}
	s, err := e.encodedState(withoutOwner(ctx), key, *o)
	if err != nil {
		return nil, err
	}
	if err := e.checkOwner(ctx, key); err != nil { // another's, which was made meanwhile
		e.snapshots.release(s)
		return nil, err
	}
	messages := s.list.cut(*o)
	pieces := make([][]byte, 0, len(messages)+2)
	pieces = append(append(append(pieces, s.head), messages...), s.tail)
	size := int64(0)
	for _, p := range pieces {
		size += int64(len(p))
	}
	return &EncodedSnapshot{
		Pieces: pieces, Size: size, rest: s.rest,
		release: sync.OnceFunc(func() { e.snapshots.release(s) }),
	}, nil
}

// encodedState returns a state that has at least the messages that o selects. A page of a
// thread whose messages are not kept is read by itself.
func (e *Engine) encodedState(ctx context.Context, key spool.ThreadKey, o SnapshotOptions) (*encodedState, error) {
	if shared := (snapshotKey{ThreadKey: key}); o.Limit == 0 || e.snapshots.has(shared) {
		return e.snapshots.get(ctx, shared)
	}
	return e.snapshots.alone(ctx, func() (*encodedState, error) {
		return e.encodeState(ctx, key, func(v spool.View, thread spool.Thread) (*encodedList, error) {
			return listPage(v, thread, o)
		})
	})
}

// yieldSnapshot yields a snapshot as a server-sent event. A large one comes in pieces, as
// a copy for each client is what sharing avoids.
func yieldSnapshot(s *EncodedSnapshot, at *spool.Cursor, yield func([]byte, error) bool) bool {
	head := append(appendID(nil, at), `{"kind":"snapshot","snapshot":`...)
	if s.Size <= maxWhole {
		for _, p := range s.Pieces {
			head = append(head, p...)
		}
		return yield(append(head, frameEnd...), nil)
	}
	if !yield(head, nil) {
		return false
	}
	for _, p := range s.Pieces {
		if !yield(p, nil) {
			return false
		}
	}
	return yield(frameEnd, nil)
}

// maxWhole is up to which size a snapshot is sent in one piece.
const maxWhole = 64 << 10

var frameEnd = []byte("}\n\n")

// takeSnapshot returns a snapshot, which is encoded, or in another form, for a walker that
// wants it so. It then has no messages but those behind its last entry.
func (w *walker) takeSnapshot(ctx context.Context, o *SnapshotOptions) (snap *spool.Snapshot, encoded *EncodedSnapshot, formed *FormedSnapshot, err error) {
	switch {
	case w.encodes:
		if encoded, err = w.e.EncodedSnapshot(ctx, w.key, o); err == nil {
			snap = encoded.rest
		}
	case w.form != nil:
		if formed, err = w.e.FormedSnapshot(ctx, w.key, w.form); err == nil {
			snap = formed.Snapshot
		}
	default:
		snap, err = w.e.Snapshot(ctx, w.key, o)
	}
	return snap, encoded, formed, err
}

// encodedState is one state of a thread, encoded. It is shared and does not change, its
// references excepted.
type encodedState struct {
	list *encodedList
	// head and tail stand before and behind the messages. A state in another form has none.
	head, tail []byte
	// rest has the thread, the cursor, the stream's end, and the messages behind the last
	// entry. That of a state in another form has the rest of the snapshot too.
	rest *spool.Snapshot
	// shared is what clients share beside the messages in another form, and formed is how
	// many bytes that and rest take.
	shared any
	formed int64

	// Those below are under snapshots.mu.
	kept *keptThread
	refs int
}

// size is how many bytes the state takes beside its list.
func (s *encodedState) size() int64 { return int64(len(s.head)+len(s.tail)) + s.formed }

// extendState reads a thread of whose messages old has a part. A nil old has none. It
// reports whether the list of the state shares the blocks of old.
func (e *Engine) extendState(ctx context.Context, key snapshotKey, old *encodedList) (s *encodedState, shares bool, err error) {
	s, err = e.encodeState(ctx, key.ThreadKey, func(v spool.View, thread spool.Thread) (l *encodedList, err error) {
		l, shares, err = old.extend(v, thread, key.form)
		return l, err
	})
	return s, shares, err
}

// encodeState reads a thread. It gets the messages from list.
func (e *Engine) encodeState(
	ctx context.Context, key spool.ThreadKey, list func(v spool.View, thread spool.Thread) (*encodedList, error),
) (*encodedState, error) {
	snap := &spool.Snapshot{Messages: []spool.Message{}}
	s := &encodedState{}
	err := e.readSnapshot(ctx, key, snap, func(v spool.View) (err error) {
		s.list, err = list(v, snap.Thread)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.list.form != nil {
		if err := s.finish(snap); err != nil {
			return nil, err
		}
		s.rest, snap.Messages = snap, s.list.since(max(snap.LastEventSeq, 0))
		return s, nil
	}
	text, err := json.Marshal(snap)
	if err != nil {
		return nil, spool.Wrap(spool.Internal, "a snapshot cannot be encoded", err)
	}
	const messages = `"messages":[`
	at := bytes.Index(text, []byte(messages+"]")) + len(messages)
	s.head, s.tail = text[:at:at], text[at:]
	s.rest = &spool.Snapshot{Thread: snap.Thread, LastEventSeq: snap.LastEventSeq, Messages: s.list.since(max(snap.LastEventSeq, 0))}
	if from := snap.Stream; from != nil {
		s.rest.Stream = &spool.StreamSnapshot{StreamID: from.StreamID, RunID: from.RunID, End: from.End, Offset: from.Offset}
	}
	return s, nil
}

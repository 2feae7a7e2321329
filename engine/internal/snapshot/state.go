package snapshot

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// encodedState is an encoded state of a thread. Clients share it, so it does not change.
type encodedState struct {
	list *encodedList
	// head and tail are the JSON before and after the messages. A state in another form has neither.
	head, tail []byte
	// envelope has the thread, the cursor, the stream's end, and the messages after the last entry. In
	// another form, it also has the rest of the snapshot.
	envelope *wire.Snapshot
	// shared is the result of [wire.SnapshotForm.Finish]. Formed is the size of shared and rest in
	// bytes.
	shared any
	formed int64
}

// size returns how many bytes the state uses without its list.
func (s *encodedState) size() int64 { return int64(len(s.head)+len(s.tail)) + s.formed }

// extend is the [extender] of the reader.
func (r reader) extend(
	ctx context.Context, key threadForm, old *encodedList,
) (s *encodedState, shares bool, err error) {
	s, err = r.encode(ctx, key.ThreadKey, func(v store.View, thread wire.Thread) (l *encodedList, err error) {
		l, shares, err = old.extend(v, thread, key.form)
		return l, err
	})
	return s, shares, err
}

// encode reads a thread, with the messages that list returns.
func (r reader) encode(
	ctx context.Context, key spool.ThreadKey, list func(v store.View, thread wire.Thread) (*encodedList, error),
) (*encodedState, error) {
	snap := &wire.Snapshot{Messages: []spool.Message{}}
	s := &encodedState{}
	err := r.read(ctx, key, snap, func(v store.View) (err error) {
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
		s.envelope, snap.Messages = snap, s.list.since(max(snap.LastEventSeq, 0))
		return s, nil
	}
	text, err := json.Marshal(snap)
	if err != nil {
		return nil, spool.Wrap(spool.Internal, "a snapshot cannot be encoded", err)
	}
	const messages = `"messages":[`
	at := bytes.Index(text, []byte(messages+"]")) + len(messages)
	s.head, s.tail = text[:at:at], text[at:]
	s.envelope = &wire.Snapshot{
		Thread: snap.Thread, LastEventSeq: snap.LastEventSeq, Messages: s.list.since(max(snap.LastEventSeq, 0)),
	}
	if from := snap.Stream; from != nil {
		s.envelope.Stream = &wire.StreamSnapshot{
			StreamID: from.StreamID, RunID: from.RunID, End: from.End, Offset: from.Offset, Saved: from.Saved,
		}
	}
	return s, nil
}

// finish completes a state in another form with the rest of the snapshot.
func (s *encodedState) finish(snap *wire.Snapshot) error {
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

// threadForm identifies what clients share: a thread in one form.
type threadForm struct {
	spool.ThreadKey

	form wire.SnapshotForm // nil: the JSON of [wire.Snapshot]
}

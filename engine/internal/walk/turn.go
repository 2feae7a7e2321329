package walk

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// walkTurns is how many user turns a walker reads at once. It is small because a turn may have large
// images.
const walkTurns = 32

// stretch is a part of the record with its user turns. A turn comes after the entry that was the last
// one when the turn was saved: see [spool.Message.AfterSeq].
type stretch struct {
	after   int64 // the seq after which it begins
	entries []wire.Entry
	turns   []spool.Message
	last    bool      // the record has no more entries
	now     time.Time // the store's time of the read
}

// stretch reads up to limit entries after the walker's position and the turns between them. At the end
// of the record, it also reads the turns after the last entry. It reads everything in one view, so that
// no turn can come too late.
func (w *Walker) stretch(ctx context.Context, limit int) (s stretch, err error) {
	if ahead := w.ahead; ahead != nil {
		if w.ahead = nil; ahead.after == w.At.Seq {
			return *ahead, nil
		}
	}
	err = w.from.Store.View(ctx, w.key, func(v store.View) (err error) {
		if err = record.SameThread(v, w.createdAt); err == nil {
			s, err = w.stretchOf(v, w.At.Seq, limit)
		}
		if err == nil && s.last && w.atRecordEnd != nil {
			w.atRecordEnd(v)
		}
		return err
	})
	return s, err
}

// stretchOf does the work of stretch in a view, for a walker at a seq.
func (w *Walker) stretchOf(v store.View, seq int64, limit int) (s stretch, err error) {
	s.after, s.now = seq, v.Now()
	if s.entries, err = v.Entries(store.EntryQuery{After: seq, Limit: limit}); err != nil {
		return s, err
	}
	s.turns, err = v.Messages(store.MessageQuery{
		Turns: true, After: cmp.Or(w.Turn, w.known), SinceSeq: seq, BeforeSeq: seq + int64(limit), Limit: walkTurns,
	})
	s.last = len(s.entries) < limit && len(s.turns) < walkTurns
	if n := len(s.turns); n == walkTurns { // more turns may follow, so leave out the entries after the last turn
		last := s.turns[n-1].AfterSeq
		s.entries = slices.DeleteFunc(s.entries, func(e wire.Entry) bool { return e.Seq > last })
	}
	return s, err
}

// before removes the turns that come before the entry with that seq, and returns their frames.
func (s *stretch) before(seq int64, w *Walker) (frames []PositionedFrame) {
	for len(s.turns) > 0 && s.turns[0].AfterSeq < seq {
		w.Turn = s.turns[0].ID
		frames = append(frames, w.framed(turnFrame(w.key, s.turns[0])))
		s.turns = s.turns[1:]
	}
	return frames
}

// lastOf returns the id of the last turn for which has returns true, or "".
func lastOf(turns []spool.Message, has func(spool.MessageID) bool) spool.MessageID {
	for _, m := range slices.Backward(turns) {
		if has(m.ID) {
			return m.ID
		}
	}
	return ""
}

// turnFrame returns the notice of a user turn. Its payload has the fields of the message.
func turnFrame(key spool.ThreadKey, m spool.Message) wire.Frame {
	event := wire.NewEntry(wire.NoticeMessageAppended, m.RunID, m)
	event.ThreadID, event.CreatedAt = key.ID, m.CreatedAt
	return wire.Frame{Kind: wire.FrameThread, Event: event}
}

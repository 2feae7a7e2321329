package live

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
)

// fromRing takes frames from the ring. A follower that has fallen behind the ring goes on from
// storage.
func (f *follower) fromRing() (frames []ringFrame, changed <-chan struct{}, err error) {
	f.batch, _ = batches.Get().(*[maxBatch]ringFrame)
	frames, ok, ended, changed := f.hub.take(f.index, f.batch[:0])
	if len(frames) == 0 {
		f.release()
	}
	switch {
	case !ok:
		f.passed = false
		f.walkOn()
		return nil, nil, nil
	case len(frames) == 0 && ended:
		return nil, nil, errOver
	case len(frames) == 0:
		return nil, changed, nil
	}
	frames, overtaken := f.untilOvertaken(frames)
	if len(frames) == 0 {
		f.passed = true
		f.release()
		f.walkOn()
		return nil, nil, nil
	}
	all := len(frames)
	frames = f.untilRestored(frames)
	f.passed = overtaken && len(frames) == all
	last := frames[len(frames)-1]
	f.index += int64(len(frames))
	if frames = f.wanted(frames); len(frames) == 0 {
		f.release()
	}
	f.walker.MoveTo(last.Stand)
	if overtaken || f.walker.SnapshotDue { // it gets a snapshot from storage
		f.walkOn()
	}
	if len(frames) == 0 {
		return nil, nil, nil // there may be more behind them
	}
	return frames, changed, nil
}

// walkOn has the follower go on from storage, behind its last frame.
func (f *follower) walkOn() {
	f.joined = false
	f.walker.Resume()
}

// untilOvertaken returns the frames before a snapshot that is older than the client's state, and
// whether there is such a snapshot. States must not go back, so the client gets a snapshot of its own
// in place of that one.
func (f *follower) untilOvertaken(frames []ringFrame) ([]ringFrame, bool) {
	if f.mode.RecordOnly {
		return frames, false
	}
	at := slices.IndexFunc(frames, func(frame ringFrame) bool {
		return frame.IsSnapshot() && (frame.notices < f.noticesSeen || frame.Past && f.run != frame.Snapshot.Thread.RunID)
	})
	if at < 0 {
		return frames, false
	}
	return frames[:at], true
}

// wanted leaves out the states that are older than the client's, the live events that the client has
// and, for a follower of the record alone, all but new entries and user turns.
func (f *follower) wanted(frames []ringFrame) []ringFrame {
	kept := frames[:0]
	for _, frame := range frames {
		switch {
		case frame.IsSnapshot():
			f.noticesSeen = max(f.noticesSeen, frame.notices+1)
			if !f.mode.RecordOnly {
				f.state = nil // the client gets the notice behind it in any case
				kept = append(kept, frame)
			}
		case isEvent(frame.Placed):
			f.noticesSeen = max(f.noticesSeen, frame.notices+1)
			if frame.notices >= f.eventsFrom {
				f.eventsFrom = frame.notices + 1
				kept = append(kept, frame)
			}
		case frame.Notice && frame.notices < f.noticesSeen:
		case frame.Notice:
			f.noticesSeen = frame.notices + 1
			if f.isNews(frame.Placed) {
				kept = append(kept, frame)
			}
		case !f.mode.RecordOnly, f.isAhead(frame.Placed):
			kept = append(kept, frame)
		}
	}
	return kept
}

// isAhead reports whether a frame is of the record, and comes after the follower's place.
func (f *follower) isAhead(frame walk.Placed) bool {
	switch at := f.walker.At.Seq; {
	case frame.Kind != spool.FrameThread:
		return false
	case frame.Event.Seq > 0:
		return frame.Event.Seq > at
	default: // a user turn
		return frame.At.Seq >= at
	}
}

// untilRestored returns the frames up to an entry that a snapshot has to follow. It notes how they
// change the messages that the client shows.
func (f *follower) untilRestored(frames []ringFrame) []ringFrame {
	for i, frame := range frames {
		if frame.Kind != spool.FrameThread || frame.Event.Seq == 0 {
			continue
		}
		f.walker.NoteMessages(*frame.Event)
		if f.walker.SnapshotDue {
			return frames[:i+1]
		}
	}
	return frames
}

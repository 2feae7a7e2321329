package live

import (
	"slices"

	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

// fromRing takes frames from the ring. If the ring no longer has the client's next frame, the follower
// goes on from storage.
func (f *follower) fromRing() (frames []ringFrame, changed <-chan struct{}, err error) {
	f.batch, _ = batches.Get().(*[maxBatch]ringFrame)
	frames, ok, ended, changed := f.hub.framesFrom(f.index, f.batch[:0])
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
	f.walker.MoveTo(last.Progress)
	if overtaken || f.walker.SnapshotDue { // the client gets a snapshot from storage
		f.walkOn()
	}
	if len(frames) == 0 {
		return nil, nil, nil // more frames may follow
	}
	return frames, changed, nil
}

// walkOn makes the follower go on from storage, after its last frame.
func (f *follower) walkOn() {
	f.joined = false
	f.walker.Resume()
}

// untilOvertaken returns the frames before the first snapshot that is older than the client's state,
// and whether it found such a snapshot. The follower replaces that snapshot by one of its own, because
// states must not go back.
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

// wanted returns the frames without states that are older than the client's and without live events
// that the client has. A follower of the record alone gets only new entries, new user turns and
// notices.
func (f *follower) wanted(frames []ringFrame) []ringFrame {
	kept := frames[:0]
	for _, frame := range frames {
		switch {
		case frame.IsSnapshot():
			f.noticesSeen = max(f.noticesSeen, frame.notices+1)
			if !f.mode.RecordOnly {
				f.state = nil // the client gets the following notice in any case
				kept = append(kept, frame)
			}
		case isEvent(frame.PositionedFrame):
			f.noticesSeen = max(f.noticesSeen, frame.notices+1)
			if frame.notices >= f.eventsFrom {
				f.eventsFrom = frame.notices + 1
				kept = append(kept, frame)
			}
		case frame.Notice && frame.notices < f.noticesSeen:
		case frame.Notice:
			f.noticesSeen = frame.notices + 1
			if f.isNews(frame.PositionedFrame) {
				kept = append(kept, frame)
			}
		case !f.mode.RecordOnly, f.isAhead(frame.PositionedFrame):
			kept = append(kept, frame)
		}
	}
	return kept
}

// isAhead reports whether a frame is an entry or a user turn after the follower's position.
func (f *follower) isAhead(frame walk.PositionedFrame) bool {
	switch at := f.walker.At.Seq; {
	case frame.Kind != wire.FrameThread:
		return false
	case frame.Event.Seq > 0:
		return frame.Event.Seq > at
	default: // a user turn
		return frame.At.Seq >= at
	}
}

// untilRestored returns the frames up to an entry after which the client needs a snapshot. It notes how
// the frames change the messages that the client shows.
func (f *follower) untilRestored(frames []ringFrame) []ringFrame {
	for i, frame := range frames {
		if frame.Kind != wire.FrameThread || frame.Event.Seq == 0 {
			continue
		}
		f.walker.NoteMessages(frame.Event)
		if f.walker.SnapshotDue {
			return frames[:i+1]
		}
	}
	return frames
}

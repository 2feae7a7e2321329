package live

import (
	"context"
	"slices"

	"github.com/spoolhq/spool/engine/internal/walk"
)

// fromStorage joins the ring at the walker's position, if the ring has it. Otherwise it reads the next
// frames from storage.
func (f *follower) fromStorage(ctx context.Context) (frames []ringFrame, changed <-chan struct{}, err error) {
	index, notices, found, changed := f.findInRing()
	if found {
		frames, err = f.joinRing(ctx, index, notices)
		return frames, nil, err
	}
	f.epoch = f.hub.currentEpoch()
	walked, err := f.walker.Next(ctx, true)
	switch n := len(walked); {
	case err != nil:
		return nil, nil, err
	case n == 0:
		return nil, changed, nil
	case slices.ContainsFunc(walked, walk.PositionedFrame.IsSnapshot):
		frames, err = f.withState(ctx, walked)
		return frames, nil, err
	default:
		return toRing(walked), nil, nil
	}
}

// findInRing returns the index of the client's next frame in the ring, and whether the follower can
// join the ring there.
func (f *follower) findInRing() (index, notices int64, found bool, changed <-chan struct{}) {
	p := f.walker.Position()
	if f.mode.RecordOnly {
		return f.hub.findRecord(p)
	}
	index, notices, found, changed = f.hub.find(p, f.walker.HasSnapshot() || f.passed)
	// A hub that began at the present since the walker saw an active run may have begun behind the run's end. Then it
	// has no frame that closes the calls of the run.
	stale := f.walker.WaitsForEnd() && f.epoch != f.hub.currentEpoch()
	return index, notices, found && f.walker.CanJoin() && !stale, changed
}

// joinRing continues in the ring with the frame of the given index. Notices is how many notices precede
// this frame. It returns what the follower missed while it read storage: live events, and the present
// state.
func (f *follower) joinRing(ctx context.Context, index, notices int64) ([]ringFrame, error) {
	f.joined, f.index = true, index
	f.walker.Joined()
	var missed []ringFrame
	if notices > f.eventsFrom {
		missed, f.eventsFrom = f.hub.eventsBefore(index, f.eventsFrom), notices
	}
	if notices <= f.noticesSeen {
		return missed, nil
	}
	state, err := f.stateNow(ctx)
	return append(missed, state...), err
}

// withState returns the frames followed by the present state, even if the client already has that
// state.
func (f *follower) withState(ctx context.Context, frames []walk.PositionedFrame) ([]ringFrame, error) {
	f.state = nil
	state, err := f.stateNow(ctx)
	return append(toRing(frames), state...), err
}

// stateNow returns a notice of the present state. It replaces all notices that the client may have
// missed. If the client already has this state, stateNow returns nothing.
func (f *follower) stateNow(ctx context.Context) ([]ringFrame, error) {
	state, notices, err := f.hub.state(ctx, f.createdAt, nil)
	if err != nil {
		return nil, err
	}
	f.noticesSeen = notices
	if !f.isNews(state) {
		return nil, nil
	}
	return toRing([]walk.PositionedFrame{state}), nil
}

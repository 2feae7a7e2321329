package live

import (
	"context"
	"slices"

	"github.com/spoolhq/spool/engine/internal/walk"
)

// fromStorage joins the ring where the walker stands, or walks on.
func (f *follower) fromStorage(ctx context.Context) (frames []ringFrame, changed <-chan struct{}, err error) {
	index, notices, found, changed := f.findInRing()
	if found {
		frames, err = f.joinRing(ctx, index, notices)
		return frames, nil, err
	}
	walked, err := f.walker.Next(ctx, true)
	switch n := len(walked); {
	case err != nil:
		return nil, nil, err
	case n == 0:
		return nil, changed, nil
	case slices.ContainsFunc(walked, walk.Placed.IsSnapshot):
		frames, err = f.withState(ctx, walked)
		return frames, nil, err
	default:
		return unringed(walked), nil, nil
	}
}

// findInRing returns the index of the client's next frame in the ring, and whether the follower can join
// the ring there.
func (f *follower) findInRing() (index, notices int64, found bool, changed <-chan struct{}) {
	p := f.walker.Position()
	if f.mode.RecordOnly {
		return f.hub.findRecord(p)
	}
	index, notices, found, changed = f.hub.find(p, f.walker.HasSnapshot() || f.passed)
	return index, notices, found && f.walker.CanJoin(), changed
}

// joinRing goes on with the frame of that index, which stands behind so many notices. It returns what
// the follower has missed while it walked: live events, and the state as it is now.
func (f *follower) joinRing(ctx context.Context, index, notices int64) ([]ringFrame, error) {
	f.joined, f.index = true, index
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

// withState returns frames with the state behind them, even if the client has the same state already.
func (f *follower) withState(ctx context.Context, frames []walk.Placed) ([]ringFrame, error) {
	f.state = nil
	state, err := f.stateNow(ctx)
	return append(unringed(frames), state...), err
}

// stateNow returns a notice of the present state, in place of all the notices that the client may have
// missed. It returns nothing if the client has the same state already.
func (f *follower) stateNow(ctx context.Context) ([]ringFrame, error) {
	state, notices, err := f.hub.state(ctx, f.made, nil)
	if err != nil {
		return nil, err
	}
	f.noticesSeen = notices
	if !f.isNews(state) {
		return nil, nil
	}
	return unringed([]walk.Placed{state}), nil
}

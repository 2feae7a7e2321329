package live

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// follower returns a follower of the thread. The hub gets wake-ups before the follower reads, so
// that no change is missed in between. The caller must close the follower.
func (h *Hubs) follower(ctx context.Context, key spool.ThreadKey, c Client, mode walk.Mode) (*follower, error) {
	if c.CreatedAt.IsZero() {
		thread, err := readThread(ctx, h.Store, key)
		if err != nil {
			return nil, err
		}
		c.CreatedAt = thread.CreatedAt
	}
	hub, first, err := h.join(key) //nolint:contextcheck // a hub outlives its first client
	if err != nil {
		return nil, err
	}
	f := &follower{
		hubs: h, hub: hub, mode: mode, createdAt: c.CreatedAt, subject: c.Subject,
		walker: walk.New(&h.Sources, key, c.FollowOptions, mode),
	}
	if f.subject != nil {
		hub.owned.Add(1)
	}
	if mode.Encodes {
		hub.readers.Add(1)
	}
	if first {
		err = f.begin(ctx, c.Cursor, hub.begin)
		hub.start()
	} else {
		select {
		case <-hub.ready:
			err = f.begin(ctx, c.Cursor, hub.state)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		f.close()
		return nil, record.NotFound(err)
	}
	return f, nil
}

// begin puts the follower at the client's cursor, and reads the state in the same transaction. If the
// cursor's position has expired, the client gets a snapshot, and the state after it.
func (f *follower) begin(ctx context.Context, at *wire.Cursor, read readState) error {
	var state walk.PositionedFrame
	frames, err := f.walker.StartAt(ctx, at, func(also func(v store.View) error) (err error) {
		state, f.noticesSeen, err = read(ctx, f.createdAt, also)
		f.eventsFrom, f.epoch = f.noticesSeen, f.hub.currentEpoch()
		return err
	})
	switch {
	case err != nil:
		return err
	case len(frames) > 0:
		f.first, err = f.withState(ctx, frames)
		return err
	case f.isNews(state):
		f.first = toRing([]walk.PositionedFrame{state})
	}
	return nil
}

// batches yields the frames that are available at the same time in one batch, which is valid until
// yield returns. If idle is positive, batches yields an empty batch when no frame came for that long.
// It closes the follower at the end, and reports whether the follower has ended without an error.
func (f *follower) batches(ctx context.Context, idle time.Duration, yield func([]ringFrame, error) bool) (over bool) {
	defer f.close()
	for {
		frames, err := f.next(ctx, idle)
		switch {
		case errors.Is(err, errOver):
			return true
		case err != nil && !errors.Is(err, errIdle):
			yield(nil, err)
			return false
		case (err != nil || len(frames) > 0) && !yield(frames, nil):
			return false
		}
	}
}

// next waits for the next frames, which are valid until the next call. If idle is positive and no frame
// comes for that long, next returns errIdle.
func (f *follower) next(ctx context.Context, idle time.Duration) ([]ringFrame, error) {
	f.release()
	defer f.keepUp()
	if len(f.first) > 0 {
		frames := f.first
		f.first = nil
		f.lend(frames)
		return f.allowed(ctx, frames)
	}
	var idleAt time.Time // fixed now, because the hub may change often without a frame for this client
	if idle > 0 {
		idleAt = time.Now().Add(idle)
	}
	for {
		var changed <-chan struct{}
		var frames []ringFrame
		var err error
		if f.joined {
			frames, changed, err = f.fromRing()
		} else {
			f.stayBehind() // before it reads, so that no wake-up is missed
			frames, changed, err = f.fromStorage(ctx)
			if errors.Is(err, record.ErrThreadGone) { // the hub sends THREAD_DELETED to the clients that have caught up
				err = errOver
			}
		}
		if len(frames) > 0 || err != nil {
			f.lend(frames)
			if err != nil {
				releaseFormed(frames)
				return frames, f.overWithoutThread(err)
			}
			return f.allowed(ctx, frames)
		}
		if err := f.checkOwner(ctx); err != nil {
			return nil, err
		}
		if changed == nil {
			continue
		}
		f.waited = changed
		if err := f.wait(ctx, changed, idleAt); err != nil {
			return nil, err
		}
	}
}

// stayBehind makes the hub tell the follower of all wake-ups, until keepUp is called.
func (f *follower) stayBehind() {
	if !f.behind {
		f.behind = true
		f.hub.behind.Add(1)
	}
}

// keepUp ends stayBehind.
func (f *follower) keepUp() {
	if f.behind {
		f.behind = false
		f.hub.behind.Add(-1)
	}
}

// wait waits until the hub has changed, or until the next poll if the follower still reads storage. It
// returns errIdle at idleAt, unless idleAt is zero.
func (f *follower) wait(ctx context.Context, changed <-chan struct{}, idleAt time.Time) error {
	limit := f.hubs.Poll
	if f.joined {
		limit = 0
	}
	if !idleAt.IsZero() {
		left := time.Until(idleAt)
		if left <= 0 {
			return cmp.Or(f.hubs.ended(ctx), errIdle)
		}
		if limit == 0 || left < limit {
			limit = left
		}
	}
	var expired <-chan time.Time
	if limit > 0 {
		if f.timer == nil {
			f.timer = time.NewTimer(limit)
		} else {
			f.timer.Reset(limit)
		}
		expired = f.timer.C
	}
	return f.hubs.wait(ctx, changed, expired)
}

// wait waits for one of two channels. It returns [errOver] once the hubs are closed.
func (h *Hubs) wait(ctx context.Context, changed <-chan struct{}, expired <-chan time.Time) error {
	if err := h.ended(ctx); err != nil { // first, because the select would choose at random
		return err
	}
	select {
	case <-changed:
		return nil
	case <-expired:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-h.closing:
		return errOver
	}
}

// ended returns the context's error, [errOver] once the hubs are closed, and otherwise nil.
func (h *Hubs) ended(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h.closing:
		return errOver
	default:
		return nil
	}
}

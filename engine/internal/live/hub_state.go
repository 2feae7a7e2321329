package live

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// pushWithStates adds the walker's frames. Before a user turn it adds the end state of the previous
// run, and after the turn the state of the turn's own run.
func (h *hub) pushWithStates(ctx context.Context, frames []walk.PositionedFrame) {
	for i, f := range frames {
		if !f.IsTurn() {
			continue
		}
		h.push(frames[:i])
		err := h.pushState(ctx, func(v store.View) ([]walk.PositionedFrame, error) {
			return h.notice.ended(v, f.Event.RunID)
		})
		h.push(frames[i : i+1])
		if err == nil {
			err = h.pushState(ctx, func(v store.View) ([]walk.PositionedFrame, error) {
				return h.notice.begun(v, f.Event.RunID)
			})
		}
		if err != nil { // the state follows after all frames
			h.dirty.Store(true)
		}
		h.pushWithStates(ctx, frames[i+1:])
		return
	}
	h.push(frames)
}

// pushNotice adds the notices that follow from the thread's row.
func (h *hub) pushNotice(ctx context.Context) error {
	err := h.pushState(ctx, h.notice.look)
	if err != nil {
		h.dirty.Store(true)
		return h.endIfDeleted(err)
	}
	return nil
}

// pushState adds the notices that look returns.
func (h *hub) pushState(ctx context.Context, look func(store.View) ([]walk.PositionedFrame, error)) error {
	h.stateLock.Lock()
	defer h.stateLock.Unlock()
	changes := h.ownerChanges()
	h.notice.ownerRead = false
	var frames []walk.PositionedFrame
	err := h.from.Store.View(ctx, h.key, func(v store.View) (err error) {
		frames, err = look(v)
		return err
	})
	if err == nil && h.notice.ownerRead {
		h.sawOwner(h.notice.owner, changes)
	}
	if err == nil && len(frames) > 0 {
		h.push(frames)
	}
	return err
}

// readState is [hub.state], or [hub.begin] for the first client.
type readState func(
	ctx context.Context, createdAt time.Time, also func(v store.View) error,
) (state walk.PositionedFrame, notices int64, err error)

// state returns a notice of the present state, and how many notices preceded it. It returns
// [record.ErrThreadGone] if the thread was not created at made. It calls also in the same transaction,
// unless also is nil.
func (h *hub) state(
	ctx context.Context, createdAt time.Time, also func(v store.View) error,
) (state walk.PositionedFrame, notices int64, err error) {
	select {
	case h.stateLock <- struct{}{}:
	case <-ctx.Done():
		return walk.PositionedFrame{}, 0, ctx.Err()
	}
	defer h.stateLock.Unlock()
	err = h.from.Store.View(ctx, h.key, func(v store.View) (err error) {
		state, err = stateOf(v, createdAt, also)
		return err
	})
	return state, h.noticeCount(), err
}

// stateOf does the work of [hub.state] in a view.
func stateOf(v store.View, createdAt time.Time, also func(v store.View) error) (state walk.PositionedFrame, err error) {
	if err := record.SameThread(v, createdAt); err != nil {
		return state, err
	}
	if also != nil {
		if err := also(v); err != nil {
			return state, err
		}
	}
	return currentState(v)
}

// endIfDeleted ends the hub if err says that the thread does not exist any more. It returns any other
// error.
func (h *hub) endIfDeleted(err error) error {
	if spool.CodeOf(err) != spool.NotFound {
		return err
	}
	h.forget()
	if h.ended {
		return nil
	}
	h.push([]walk.PositionedFrame{
		noticeFrame(h.key, wire.NoticeThreadDeleted, "", wire.ThreadDeleted{ThreadID: h.key.ID}, time.Now()),
	})
	h.end()
	return nil
}

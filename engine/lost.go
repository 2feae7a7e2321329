package engine

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// lostStream is the stream of a worker that went away, which somebody else has to end.
type lostStream struct {
	id  spool.StreamID
	end spool.Offset
}

// loseSegment adds the entry that ends the segment of a worker that went away, and the
// model calls that went with it.
func (h *held) loseSegment(reason string) (*lostStream, error) {
	if err := h.lose(); err != nil {
		return nil, err
	}
	saved, err := record.SavedOf(h, h.run)
	if err != nil {
		return nil, err
	}
	lost := &lostStream{id: h.run.Stream(), end: endBehind(saved.Last())}
	return lost, h.closeSegment(spool.SegmentLost, reason, lost.end)
}

// endBehind returns where a stream ends at the earliest of which all up to an offset is
// saved: STEP_FINISHED says so, and then comes the end. It is zero where nothing is saved.
func endBehind(saved spool.Offset) spool.Offset {
	if !saved.IsZero() {
		saved.N += 2
	}
	return saved
}

// closeLost ends a lost stream, so that its readers move on. Nil is none.
func (e *Engine) closeLost(ctx context.Context, key spool.ThreadKey, lost *lostStream) {
	if lost == nil {
		return
	}
	end := spool.NewItem(spool.ItemRunError, spool.Offset{}, 0, spool.StreamFailed{Status: spool.SegmentLost, Error: workerDied})
	e.closeFor(ctx, spool.StreamKey{Thread: key, ID: lost.id}, end, lost.end)
	e.bus.Wake(key, spool.WakeStream)
}

// closeFor ends a stream in its worker's place. The record says at which offset that was
// to be at the earliest: a stream that lacks what is to be before it, because it was saved
// and the worker died before it could tell, is removed. Its readers then get a snapshot.
func (e *Engine) closeFor(ctx context.Context, key spool.StreamKey, end spool.Item, at spool.Offset) {
	ctx, cancel := streamContext(ctx)
	defer cancel()
	grace := e.keepStreams()
	if !e.whole(ctx, key, at) {
		grace = 0
	}
	if err := e.streams.Close(ctx, key, end, grace); err != nil && !errors.Is(err, spool.ErrStreamGone) {
		concerning(e.config.Log, key.Thread, runOf(key.ID)).WarnContext(ctx, "end the stream of a lost segment", "stream", string(key.ID), "error", err)
	}
}

// whole reports whether a stream has every item that stands before the one at end.
func (e *Engine) whole(ctx context.Context, key spool.StreamKey, end spool.Offset) bool {
	if end.N <= 1 {
		return true
	}
	page, err := e.streams.Read(ctx, key, record.Farthest, 1)
	if err != nil {
		return errors.Is(err, spool.ErrStreamGone)
	}
	return page.Last.Compare(spool.Offset{Fence: end.Fence, N: end.N - 1}) >= 0
}

package live

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

// ErrDeleted says that the thread was deleted while a caller was waiting for one of its runs.
var ErrDeleted = errors.New("the thread was deleted")

// Await calls read until read reports that the run is over. It calls read at once, and again after each
// frame of the thread after which the run may be over. Read returns the dispatched run of the run's
// tree. Await returns read's error, ctx's error, [ErrDeleted], or an [spool.Unavailable] error after
// Close.
func (h *Hubs) Await(
	ctx context.Context, key spool.ThreadKey, run spool.RunID, read func() (root spool.RunID, over bool, err error),
) error {
	// A run that is over needs no hub, and a run that does not exist must not open one.
	if _, over, err := read(); over || err != nil {
		return err
	}
	hub, _, err := h.join(key) //nolint:contextcheck // a hub outlives its first client
	if err != nil {
		return err
	}
	defer h.leave(hub)
	hub.start()
	w := runWatch{hubs: h, hub: hub, run: run}
	if err := h.wait(ctx, hub.ready, nil); err != nil {
		return err
	}
	for {
		from, positioned, changed := hub.mark() // before the read, so that no change is missed in between
		var over bool
		if w.root, over, err = read(); over || err != nil {
			return err
		}
		if positioned {
			err = w.news(ctx, from)
		} else {
			err = h.wait(ctx, changed, nil)
		}
		if err != nil {
			return err
		}
	}
}

// runWatch waits at a hub for the end of one run.
type runWatch struct {
	hubs *Hubs
	hub  *hub
	run  spool.RunID
	// root is the dispatched run of the run's tree. It may be the run itself.
	root spool.RunID
}

// news returns when the hub has a frame at or after the index from, after which the run may be over. It
// also returns when the frames at from are lost.
func (w *runWatch) news(ctx context.Context, from int64) error {
	for {
		next, found, changed, err := w.scan(from)
		if found || err != nil {
			return err
		}
		if next == from {
			if err := w.hubs.wait(ctx, changed, nil); err != nil {
				return err
			}
		}
		from = next
	}
}

// scan looks at the frames from the index from on, and returns the index of the next frame.
func (w *runWatch) scan(from int64) (next int64, found bool, changed <-chan struct{}, err error) {
	batch, _ := batches.Get().(*[maxBatch]ringFrame)
	defer func() {
		clear(batch[:])
		batches.Put(batch)
	}()
	frames, ok, ended, changed := w.hub.framesFrom(from, batch[:0])
	if ended {
		return from, false, nil, ErrDeleted
	}
	concerns := func(f ringFrame) bool { return w.concerns(f.PositionedFrame) }
	return from + int64(len(frames)), !ok || slices.ContainsFunc(frames, concerns), changed, nil
}

// concerns reports whether the run may be over after a frame. A wrong true only costs a read.
func (w *runWatch) concerns(f walk.PositionedFrame) bool {
	switch {
	case f.IsSnapshot():
		return true
	case f.Kind == wire.FrameStream:
		return w.run != w.root && f.Item.Type == wire.ItemSubagentFinished
	}
	switch f.Event.Type {
	case wire.EntryRunEnded, wire.EntryRunRefused, wire.EntryInputExtended:
		return f.Event.RunID == w.root
	case wire.NoticeStateChange:
		return w.mayBeOver(f.Event.Payload)
	case wire.NoticeThreadDeleted:
		return true
	default:
		return false
	}
}

// mayBeOver reports whether the run may be over after the state that the payload describes.
func (w *runWatch) mayBeOver(payload json.RawMessage) bool {
	var state wire.StateChange
	if json.Unmarshal(payload, &state) != nil {
		return true
	}
	if state.RunID == w.root {
		return state.State != wire.Queued && state.State != wire.Running
	}
	for _, waiting := range state.Queue {
		if waiting.RunID == w.root {
			return false
		}
	}
	return true
}

package live

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
)

// ErrDeleted says that the thread was deleted while a caller waited for one of its runs.
var ErrDeleted = errors.New("the thread was deleted")

// Await calls read until it reports that the run is over: at once, and after each frame of the thread
// after which the run may be over. Read returns the dispatched run that the run belongs to. Await
// returns read's error, ctx's, [ErrDeleted], or an [spool.Unavailable] error after Close.
func (h *Hubs) Await(ctx context.Context, key spool.ThreadKey, run spool.RunID, read func() (root spool.RunID, over bool, err error)) error {
	// A run that is over needs no hub, and one that is not there must not make one.
	if _, over, err := read(); over || err != nil {
		return err
	}
	hub, err := h.join(key) //nolint:contextcheck // a hub outlives its first client
	if err != nil {
		return err
	}
	defer h.leave(hub)
	w := runWatch{hubs: h, hub: hub, run: run}
	if err := h.wait(ctx, hub.ready, nil); err != nil {
		return err
	}
	for {
		from, placed, changed := hub.mark() // before the read, so that no change falls in between
		var over bool
		if w.root, over, err = read(); over || err != nil {
			return err
		}
		if placed {
			err = w.news(ctx, from)
		} else {
			err = h.wait(ctx, changed, nil)
		}
		if err != nil {
			return err
		}
	}
}

// runWatch waits for the end of one run at a hub.
type runWatch struct {
	hubs *Hubs
	hub  *hub
	run  spool.RunID
	// root is the dispatched run that the run belongs to, which may be itself.
	root spool.RunID
}

// news returns once the hub has a frame, from the index on, after which the run may be over, or once
// the frames from the index on are lost.
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

// scan looks at frames from the index on, and returns the index behind them.
func (w *runWatch) scan(from int64) (next int64, found bool, changed <-chan struct{}, err error) {
	batch, _ := batches.Get().(*[maxBatch]ringFrame)
	defer func() {
		clear(batch[:])
		batches.Put(batch)
	}()
	frames, ok, ended, changed := w.hub.take(from, batch[:0])
	if ended {
		return from, false, nil, ErrDeleted
	}
	concerns := func(f ringFrame) bool { return w.concerns(f.Placed) }
	return from + int64(len(frames)), !ok || slices.ContainsFunc(frames, concerns), changed, nil
}

// concerns reports whether the run may be over by a frame. A frame too many costs a read.
func (w *runWatch) concerns(f walk.Placed) bool {
	switch {
	case f.IsSnapshot():
		return true
	case f.Kind == spool.FrameStream:
		return w.run != w.root && f.Item.Type == spool.ItemSubagentFinished
	}
	switch f.Event.Type {
	case spool.EntryRunEnded, spool.EntryRunRefused, spool.EntryInputExtended:
		return f.Event.RunID == w.root
	case spool.NoticeStateChange:
		return w.mayBeOver(f.Event.Payload)
	case spool.NoticeThreadDeleted:
		return true
	default:
		return false
	}
}

// mayBeOver reports whether a state of the thread leaves it open that the run goes on.
func (w *runWatch) mayBeOver(payload json.RawMessage) bool {
	var state spool.StateChange
	if json.Unmarshal(payload, &state) != nil {
		return true
	}
	if state.RunID == w.root {
		return state.State != spool.Queued && state.State != spool.Running
	}
	for _, waiting := range state.Queue {
		if waiting.RunID == w.root {
			return false
		}
	}
	return true
}

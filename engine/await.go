package engine

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
)

// Await waits until a run of the thread has ended, or until it cannot go on before somebody
// answers it, and returns what it has come to: [Outcome.State] is terminal then, or
// [Outcome.Parks] is not empty. A run that waits for its thread or for a worker is waited for as
// well. A key without a thread id stands for the run's own thread.
//
// Nothing is held while it waits: no transaction, no worker's slot, and all who wait for runs of
// one thread in this process share one reader of it with those who follow the thread. When ctx
// ends, Await returns its error and the run goes on. It returns a [spool.NotFound] error for a
// run that is not there, also once its thread is deleted, and an [spool.Unavailable] one when
// the engine is closed.
func (e *Engine) Await(ctx context.Context, key spool.ThreadKey, id spool.RunID) (Outcome, error) {
	key, err := e.runKey(ctx, key, id)
	if err != nil {
		return Outcome{}, err
	}
	// A run that is over needs no hub, and one that is not there must not make one.
	if o, _, err := e.outcome(ctx, key, id); err != nil || o.over() {
		return o, err
	}
	h, err := e.join(key) //nolint:contextcheck // a hub outlives its first client
	if err != nil {
		return Outcome{}, err
	}
	defer h.leave()
	w := runWatch{hub: h, run: id}
	if err := w.wait(ctx, h.ready); err != nil {
		return Outcome{}, err
	}
	for {
		from, placed, changed := h.mark() // before the read, so that no change falls in between
		var o Outcome
		if o, w.root, err = e.outcome(ctx, key, id); err != nil || o.over() {
			return o, err
		}
		if placed {
			err = w.news(ctx, from)
		} else {
			err = w.wait(ctx, changed)
		}
		if err != nil {
			return Outcome{}, err
		}
	}
}

// runWatch waits for what a hub tells of one run.
type runWatch struct {
	hub *hub
	run spool.RunID
	// root is the dispatched run that the run belongs to, which may be itself.
	root spool.RunID
}

// wait waits for a channel to be closed.
func (w *runWatch) wait(ctx context.Context, closed <-chan struct{}) error {
	select { // an end comes before news: whether it is noticed must not be chance
	case <-ctx.Done():
		return ctx.Err()
	case <-w.hub.e.closing:
		return errEngineClosed
	default:
	}
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.hub.e.closing:
		return errEngineClosed
	}
}

var errEngineClosed = spool.Errorf(spool.Unavailable, "the engine is closed")

// news returns once the hub has a frame, from the index on, by which the run may be over, or
// once it cannot tell whether there was one.
func (w *runWatch) news(ctx context.Context, from int64) error {
	for {
		next, found, err := w.scan(from)
		if found || err != nil {
			return err
		}
		from = next
		// Read again, as the ring may have grown since: changed belongs to this read.
		next, placed, changed := w.hub.mark()
		switch {
		case !placed:
			return nil
		case next > from:
			continue
		}
		if err := w.wait(ctx, changed); err != nil {
			return err
		}
	}
}

// scan looks at the frames from the index on, and returns the index behind them.
func (w *runWatch) scan(from int64) (next int64, found bool, err error) {
	batch, _ := batches.Get().(*[maxBatch]ringFrame)
	defer func() {
		clear(batch[:])
		batches.Put(batch)
	}()
	for {
		frames, ok, ended, _ := w.hub.from(from, batch[:0])
		switch {
		case ended:
			return from, false, spool.Errorf(spool.NotFound, runNotFound)
		case !ok:
			return from, true, nil
		case len(frames) == 0:
			return from, false, nil
		}
		for i := range frames {
			if w.concerns(frames[i].walked) {
				return from, true, nil
			}
		}
		from += int64(len(frames))
	}
}

// concerns reports whether the run may be over by a frame. A frame too many costs a read.
func (w *runWatch) concerns(f walked) bool {
	switch {
	case f.isSnapshot():
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

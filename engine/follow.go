package engine

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// FollowOptions say from where to follow.
type FollowOptions = spool.FollowOptions

// Follow yields the thread's frames from the place on, and goes on as they come, until
// ctx ends, the caller stops, the thread is deleted or the engine is closed. It also ends when
// the thread is given to somebody else and the actor of ctx sees only its own. Nothing is
// lost, repeated or out of order; what is gone is made up for by one snapshot frame. The
// user turns stand in the order where they were said. Those right behind the cursor's seq
// may come again. The first frame is a notice of the thread's state, and so is the one
// behind a snapshot.
//
// An error ends the sequence: a [spool.NotFound] error for a thread that does not exist,
// ctx's own when it ended, or the store's.
func (e *Engine) Follow(ctx context.Context, key spool.ThreadKey, o FollowOptions) iter.Seq2[spool.Frame, error] {
	return func(yield func(spool.Frame, error) bool) {
		f, err := e.follow(ctx, key, o, false)
		if err != nil {
			yield(spool.Frame{}, err)
			return
		}
		f.batches(ctx, 0, func(frames []ringFrame, err error) bool {
			if err != nil {
				return yield(spool.Frame{}, err)
			}
			for i := range frames {
				if !yield(frames[i].Frame, nil) {
					return false
				}
			}
			return true
		})
	}
}

// batches yields the frames that are there at the same time in one batch, which is good until
// yield returns. An empty one says that nothing has come for as long as idle, where that is
// positive. Batches closes the follower.
func (f *follower) batches(ctx context.Context, idle time.Duration, yield func([]ringFrame, error) bool) {
	defer f.close()
	for {
		frames, err := f.next(ctx, idle)
		switch {
		case errors.Is(err, errOver):
			return
		case err != nil && !errors.Is(err, errIdle):
			yield(nil, err)
			return
		case (err != nil || len(frames) > 0) && !yield(frames, nil):
			return
		}
	}
}

// FollowRecord yields the record entries behind the seq since, and notices, without any
// run stream. It ends as [Engine.Follow] does.
func (e *Engine) FollowRecord(ctx context.Context, key spool.ThreadKey, since int64) iter.Seq2[spool.Entry, error] {
	return func(yield func(spool.Entry, error) bool) {
		f, err := e.follow(ctx, key, FollowOptions{Cursor: &spool.Cursor{Seq: since}}, true)
		if err != nil {
			yield(spool.Entry{}, err)
			return
		}
		defer f.close()
		for {
			frames, err := f.next(ctx, 0)
			for _, frame := range frames {
				if !yield(*frame.Event, nil) {
					return
				}
			}
			switch {
			case errors.Is(err, errOver):
				return
			case err != nil:
				yield(spool.Entry{}, err)
				return
			}
		}
	}
}

// ReadStream yields the items of one run stream behind the offset after, and ends behind
// the stream's last item. It yields an [spool.ErrStreamGone] error for a stream that is
// gone, also in the middle.
func (e *Engine) ReadStream(ctx context.Context, key spool.ThreadKey, id spool.StreamID, after spool.Offset) iter.Seq2[spool.Item, error] {
	return func(yield func(spool.Item, error) bool) {
		var named record.NamedStream
		err := e.store.View(ctx, key, func(v spool.View) (err error) {
			named, err = record.FindStream(v, spool.Cursor{Stream: id}, e.config.StreamGrace)
			return err
		})
		if err == nil && named.Past {
			err = spool.ErrStreamGone
		}
		if err != nil {
			yield(spool.Item{}, err)
			return
		}
		woken := make(chan struct{}, 1)
		unsubscribe, err := e.bus.Subscribe(ctx, key, func(spool.WakeKind) {
			select {
			case woken <- struct{}{}:
			default:
			}
		})
		if err != nil {
			yield(spool.Item{}, err)
			return
		}
		defer unsubscribe()
		tick := time.NewTicker(e.config.Poll)
		defer tick.Stop()
		for {
			page, err := e.streams.Read(ctx, spool.StreamKey{Thread: key, ID: id}, after, walkPage)
			if err == nil {
				err = e.checkOwner(ctx, key) // behind the read, so that nothing was said since it was the reader's
			}
			if err != nil {
				yield(spool.Item{}, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
				after = item.Offset
			}
			switch {
			case page.Ended:
				return
			case after.Compare(page.Last) > 0: // of a stream that has begun anew
				yield(spool.Item{}, spool.ErrStreamGone)
				return
			case len(page.Items) > 0:
				continue
			}
			select {
			case <-ctx.Done():
				yield(spool.Item{}, ctx.Err())
				return
			case <-woken:
			case <-tick.C:
			}
		}
	}
}

// errOver ends a follower in order: the thread was deleted, or the engine was closed.
var errOver = errors.New("there is nothing more to follow")

// errIdle says that nothing came for as long as the caller would wait.
var errIdle = errors.New("nothing came")

// follower is one client: a walker until it has caught up, then a place in the hub's
// ring, and a walker again when it falls behind.
type follower struct {
	e      *Engine
	hub    *hub
	walker walker
	hello  []ringFrame
	told   int64       // how many of the hub's notices the client knows
	heard  int64       // behind how many of them the live events come that it lacks
	state  []byte      // the last one of the state
	run    spool.RunID // that it was about
	passed bool        // whether the next snapshot frame of the hub is not for this client
	joined bool
	index  int64                // of the next frame in the ring
	batch  *[maxBatch]ringFrame // what the caller has of the ring, nil when nothing
	given  []*EncodedSnapshot   // what the caller has of snapshots
	timer  *time.Timer
	// subject is whose threads the client may see. Nil: all.
	subject *string
}

// maxBatch is how many frames a client takes from the ring at once.
const maxBatch = 32

// batches are shared, so that a client that waits holds none.
var batches = sync.Pool{New: func() any { return new([maxBatch]ringFrame) }}

// follow makes a follower. The hub listens before anything is read, so that nothing can
// fall in between.
func (e *Engine) follow(ctx context.Context, key spool.ThreadKey, o FollowOptions, recordOnly bool) (*follower, error) {
	return e.followWith(ctx, key, o, walker{recordOnly: recordOnly})
}

// followWith is follow with what the walker leaves out or encodes.
func (e *Engine) followWith(ctx context.Context, key spool.ThreadKey, o FollowOptions, with walker) (*follower, error) {
	if o.CreatedAt.IsZero() {
		thread, err := e.Thread(ctx, key)
		if err != nil {
			return nil, err
		}
		o.CreatedAt = thread.CreatedAt
	}
	h, err := e.join(key) //nolint:contextcheck // a hub outlives its first client
	if err != nil {
		return nil, err
	}
	f := &follower{e: e, hub: h, walker: with}
	if actor := actorOf(ctx); actor.OwnOnly {
		f.subject = &actor.Subject
		h.owned.Add(1)
	}
	f.walker.e, f.walker.key, f.walker.made = e, key, o.CreatedAt
	f.walker.last, f.walker.known, f.walker.turn = o.LastMessageID, o.LastMessageID, o.LastTurnID
	if with.encodes {
		h.readers.Add(1)
	}
	select {
	case <-h.ready:
	case <-ctx.Done():
		f.close()
		return nil, ctx.Err()
	}
	if err := f.begin(ctx, o.Cursor); err != nil {
		f.close()
		return nil, record.NotFound(err)
	}
	return f, nil
}

// begin puts the follower at its place, and looks at the state in the same transaction. Where
// the place is gone, the state behind the snapshot counts.
func (f *follower) begin(ctx context.Context, at *spool.Cursor) error {
	var state walked
	frames, err := f.walker.place(ctx, at, func(read func(v spool.View) error) (err error) {
		state, f.told, err = f.hub.state(ctx, f.walker.made, read)
		f.heard = f.told
		return err
	})
	switch {
	case err != nil:
		return err
	case len(frames) > 0:
		f.hello, err = f.greeted(ctx, frames)
		return err
	case f.isNews(state):
		f.hello = unringed([]walked{state})
	}
	return nil
}

func (f *follower) close() {
	f.give(f.hello)
	releaseFormed(f.hello)
	f.release()
	if f.timer != nil {
		f.timer.Stop()
	}
	if f.walker.encodes {
		f.hub.readers.Add(-1)
	}
	if f.subject != nil {
		f.hub.owned.Add(-1)
	}
	f.hub.leave()
}

func (f *follower) release() {
	if f.batch != nil {
		clear(f.batch[:])
		batches.Put(f.batch)
		f.batch = nil
	}
	for _, snap := range f.given {
		snap.Release()
	}
	f.given = nil
}

// give notes which snapshots the caller has from now on.
func (f *follower) give(frames []ringFrame) {
	for i := range frames {
		if snap := frames[i].encoded; snap != nil {
			f.given = append(f.given, snap)
		}
	}
}

// next returns the frames that come next, and waits for them. What it returns is good
// until the next call. A positive idle bounds the wait, after which it returns errIdle.
func (f *follower) next(ctx context.Context, idle time.Duration) ([]ringFrame, error) {
	f.release()
	if len(f.hello) > 0 {
		frames := f.hello
		f.hello = nil
		f.give(frames)
		return f.allowed(ctx, frames)
	}
	var idleAt time.Time // however often the hub changes without a frame for this client
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
			frames, changed, err = f.fromStorage(ctx)
			if errors.Is(err, record.ErrThreadGone) { // the hub tells those that have caught up
				err = errOver
			}
		}
		if len(frames) > 0 || err != nil {
			f.give(frames)
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
		if err := f.wait(ctx, changed, idleAt); err != nil {
			return nil, err
		}
	}
}

// fromRing takes what the ring has. A follower that has fallen behind goes on from
// storage.
func (f *follower) fromRing() (frames []ringFrame, changed <-chan struct{}, err error) {
	f.batch, _ = batches.Get().(*[maxBatch]ringFrame)
	frames, ok, ended, changed := f.hub.from(f.index, f.batch[:0])
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
	switch {
	case !f.walker.recordOnly:
		f.walker.at, f.walker.turn, f.walker.reading = last.at, last.turn, last.reading
	case last.at.Seq >= f.walker.at.Seq:
		f.walker.at.Seq, f.walker.turn = last.at.Seq, last.turn
	}
	if overtaken || f.walker.restored.owed { // it gets a snapshot from storage
		f.walkOn()
	}
	if len(frames) == 0 {
		return nil, nil, nil // there may be more behind them
	}
	return frames, changed, nil
}

// walkOn has the follower go on from storage, behind what it had last.
func (f *follower) walkOn() {
	f.joined, f.walker.heard = false, heardOf{stream: f.walker.at.Stream, astray: true}
}

// untilOvertaken returns the frames before a snapshot that was made before the client was
// told the state, and whether there is one. The client gets a snapshot of its own in place of
// it, as states must not go back.
func (f *follower) untilOvertaken(frames []ringFrame) ([]ringFrame, bool) {
	if f.walker.recordOnly {
		return frames, false
	}
	at := slices.IndexFunc(frames, func(frame ringFrame) bool {
		return frame.isSnapshot() && (frame.notices < f.told || frame.past && f.run != frame.Snapshot.Thread.RunID)
	})
	if at < 0 {
		return frames, false
	}
	return frames[:at], true
}

// wanted leaves out the states that the hello has overtaken, the live events that the client has
// and, for a follower of the record alone, all but the entries and user turns that it lacks.
func (f *follower) wanted(frames []ringFrame) []ringFrame {
	kept := frames[:0]
	for _, frame := range frames {
		switch {
		case frame.isSnapshot():
			f.told = max(f.told, frame.notices+1)
			if !f.walker.recordOnly {
				f.state = nil // the notice behind it is told, whatever it says
				kept = append(kept, frame)
			}
		case frame.isLive():
			f.told = max(f.told, frame.notices+1)
			if frame.notices >= f.heard {
				f.heard = frame.notices + 1
				kept = append(kept, frame)
			}
		case frame.notice && frame.notices < f.told:
		case frame.notice:
			f.told = frame.notices + 1
			if f.isNews(frame.walked) {
				kept = append(kept, frame)
			}
		case !f.walker.recordOnly, f.lacks(frame.walked):
			kept = append(kept, frame)
		}
	}
	return kept
}

// lacks reports whether a frame is of the record, and behind the follower.
func (f *follower) lacks(frame walked) bool {
	switch at := f.walker.at.Seq; {
	case frame.Kind != spool.FrameThread:
		return false
	case frame.Event.Seq > 0:
		return frame.Event.Seq > at
	default: // a user turn
		return frame.at.Seq >= at
	}
}

// isNews reports whether a notice says something that the last one did not, and remembers
// it. A hello may have looked a moment before the hub did.
func (f *follower) isNews(frame walked) bool {
	if frame.Event.Type != spool.NoticeStateChange {
		return true
	}
	if bytes.Equal(f.state, frame.Event.Payload) || frame.past && f.run != frame.Event.RunID {
		return false
	}
	f.state, f.run = frame.Event.Payload, frame.Event.RunID
	return true
}

// fromStorage joins the ring where the walker stands, or walks on.
func (f *follower) fromStorage(ctx context.Context) (frames []ringFrame, changed <-chan struct{}, err error) {
	if f.walker.recordOnly {
		return f.recordFromStorage(ctx)
	}
	p, shared := f.walker.position()
	index, notices, found, changed := f.hub.find(p, f.walker.heard.told || f.passed)
	if found && shared {
		frames, err = f.joinRing(ctx, index, notices)
		return frames, nil, err
	}
	walked, err := f.walker.next(ctx, true)
	switch n := len(walked); {
	case err != nil:
		return nil, nil, err
	case n == 0:
		return nil, changed, nil
	case slices.ContainsFunc(walked, isSnapshot):
		frames, err = f.greeted(ctx, walked)
		return frames, nil, err
	default:
		return unringed(walked), nil, nil
	}
}

// joinRing goes on with the frame of that index, which stands behind so many notices. It returns
// what has come and gone while the follower walked: the live events, and the state as it is now.
func (f *follower) joinRing(ctx context.Context, index, notices int64) ([]ringFrame, error) {
	f.joined, f.index = true, index
	var missed []ringFrame
	if notices > f.heard {
		missed, f.heard = f.hub.liveBefore(index, f.heard), notices
	}
	if notices <= f.told {
		return missed, nil
	}
	state, err := f.greet(ctx)
	return append(missed, state...), err
}

// recordFromStorage is fromStorage for a follower of the record alone.
func (f *follower) recordFromStorage(ctx context.Context) (frames []ringFrame, changed <-chan struct{}, err error) {
	p, _ := f.walker.position()
	index, notices, found, changed := f.hub.findRecord(p)
	if found {
		frames, err = f.joinRing(ctx, index, notices)
		return frames, nil, err
	}
	walked, err := f.walker.next(ctx, true)
	if len(walked) > 0 || err != nil {
		return unringed(walked), nil, err
	}
	return nil, changed, nil
}

// greeted returns frames with the state behind them, also where the client was told of the
// same one before.
func (f *follower) greeted(ctx context.Context, frames []walked) ([]ringFrame, error) {
	f.state = nil
	state, err := f.greet(ctx)
	return append(unringed(frames), state...), err
}

// greet returns a notice of the state as it is now, in place of all the notices that the
// client may have missed, or nothing where the client was told of the same state last.
func (f *follower) greet(ctx context.Context) ([]ringFrame, error) {
	state, told, err := f.hub.state(ctx, f.walker.made, nil)
	if err != nil {
		return nil, err
	}
	f.told = told
	if !f.isNews(state) {
		return nil, nil
	}
	return unringed([]walked{state}), nil
}

// wait waits until the hub has changed, or it is time to look anyway. It returns errIdle
// once it is idleAt, where that is set.
func (f *follower) wait(ctx context.Context, changed <-chan struct{}, idleAt time.Time) error {
	limit := f.e.config.Poll
	if f.joined {
		limit = 0
	}
	if !idleAt.IsZero() {
		left := time.Until(idleAt)
		if left <= 0 {
			return errIdle
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
	select { // an end comes before news: whether it is noticed must not be chance
	case <-ctx.Done():
		return ctx.Err()
	case <-f.e.closing:
		return errOver
	default:
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-f.e.closing:
		return errOver
	case <-expired:
		return nil
	}
}

// unringed returns frames as those of the ring are.
func unringed(frames []walked) []ringFrame {
	out := make([]ringFrame, len(frames))
	for i, f := range frames {
		out[i].walked = f
	}
	return out
}

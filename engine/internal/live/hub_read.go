package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/internal/chanlock"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// openHub returns a hub with its first client. The hub is already subscribed to wake-ups. The client starts the hub:
// see [hub.begin].
func openHub(from *Config, key spool.ThreadKey) (*hub, error) {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hub{
		ring: ring{changed: make(chan struct{})},
		from: from, key: key, clients: 1, cancel: cancel, done: make(chan struct{}), ready: make(chan struct{}),
		woken:  make(chan struct{}, 1),
		notice: noticer{key: key}, stateLock: chanlock.New(),
	}
	h.walker = walk.NewShared(&from.Sources, key, h.see)
	unsubscribe, err := from.Wakes.Subscribe(ctx, key, h.wake)
	if err != nil {
		cancel()
		return nil, err
	}
	h.dirty.Store(true)
	h.start = sync.OnceFunc(func() {
		go func() {
			defer close(h.done)
			defer unsubscribe()
			h.follow(ctx)
		}()
	})
	return h, nil
}

// stop ends the hub's goroutine, and waits for its end.
func (h *hub) stop() {
	h.cancel()
	<-h.done
}

func (h *hub) wake(kind store.WakeKind, notice []byte) {
	switch kind {
	case store.WakeNotice:
		h.receive(notice)
		return
	case store.WakeDeleted:
		h.walker.ThreadDeleted()
		h.dirty.Store(true)
	case store.WakeOwner:
		h.ownerChanged()
		h.dirty.Store(true)
	case store.WakeRecord:
		h.dirty.Store(true)
	case store.WakeAsk:
		h.asked.Store(true)
	case store.WakeStream:
	default:
		return
	}
	h.look()
}

// follow reads the thread after each wake-up, and at each poll.
func (h *hub) follow(ctx context.Context) {
	tick := time.NewTicker(h.from.Poll)
	defer tick.Stop()
	for first := true; ; first = false {
		notices := h.drainEvents()
		err := h.read(ctx)
		h.pushEvents(notices)
		if first {
			close(h.ready)
		}
		if err != nil && ctx.Err() == nil {
			h.from.Log.WarnContext(ctx, "follow thread", "tenant", string(h.key.Tenant), "thread", string(h.key.ID), "error",
				err)
		}
		select {
		case <-ctx.Done():
			return
		case <-h.woken:
			if h.asked.Swap(false) { // not in wake, which a backend may call with a lock
				h.from.Wakes.Wake(h.key, store.WakePresent, nil)
			}
			h.nudge()
		case <-tick.C:
			h.dirty.Store(true)
		}
	}
}

// read reads everything that is new.
func (h *hub) read(ctx context.Context) error {
	grown := h.dirty.Swap(false)
	h.stateKnown = false
	if grown {
		h.walker.AtEnd = false
	}
	if !h.positioned {
		if err := h.startAtPresent(ctx); err != nil {
			h.dirty.Store(true)
			return h.endIfDeleted(err)
		}
		h.stateKnown = true // the hub has just read the state there
	}
	for {
		more, remaining, err := h.withSnapshots(ctx, grown)
		if more && err == nil {
			h.pushWithStates(ctx, remaining)
		}
		switch {
		case errors.Is(err, walk.ErrReset):
			h.reset()
			h.dirty.Store(true)
			return nil
		case err != nil:
			h.dirty.Store(true)
			if errors.Is(err, record.ErrThreadGone) {
				return h.endIfDeleted(err)
			}
			return err
		case !more:
			if grown && !h.walker.Waits() && !h.stateKnown {
				return h.pushNotice(ctx)
			}
			if h.walker.Waits() {
				h.dirty.Store(true) // the blocked entry still has to be passed
			}
			return nil
		}
		grown = grown || !h.walker.Reading // an entry follows the end of a stream
	}
}

// withSnapshots reads the next frames, adds the frames up to the last snapshot to the ring, and returns
// the rest. It returns false when it has read everything. A snapshot frame contains the state, so no
// goroutine may read the state while the frame is made and added. A notice of the state always follows
// the frame.
//
// At the end of the record, the walker has read the state in the same transaction. If no other notice
// comes in between, the hub adds all frames, and a notice of that state if it is new.
func (h *hub) withSnapshots(ctx context.Context, grown bool) (more bool, remaining []walk.PositionedFrame, err error) {
	h.stateLock.Lock()
	defer h.stateLock.Unlock()
	h.seen = nil
	changes := h.ownerChanges()
	frames, err := h.walker.Next(ctx, grown)
	n := len(frames)
	for n > 0 && !frames[n-1].IsSnapshot() {
		n--
	}
	switch {
	case h.seen != nil && n == 0:
		h.sawOwner(h.seen.thread.Owner, changes)
	case n > 0, slices.ContainsFunc(frames, func(f walk.PositionedFrame) bool { return f.Kind == wire.FrameThread }):
		h.missedOwner()
	case len(frames) > 0:
		h.askOwner(ctx)
	}
	if n > 0 {
		h.push(frames[:n])
		h.notice.again = true
	}
	remaining = frames[n:]
	switch {
	case n > 0 || slices.ContainsFunc(remaining, walk.PositionedFrame.IsTurn):
		h.stateKnown = false
	case err == nil && h.seen != nil && h.walker.AtEnd:
		h.push(remaining)
		h.push(h.notice.notices(*h.seen))
		remaining, h.stateKnown = nil, true
	}
	return len(frames) > 0, remaining, err
}

// startAtPresent moves the walker and the ring to the present.
func (h *hub) startAtPresent(ctx context.Context) error {
	changes := h.ownerChanges()
	thread, err := h.walker.ToPresent(ctx, h.notice.start)
	if err == nil {
		h.isAtPresent(thread, changes)
	}
	return err
}

func (h *hub) isAtPresent(thread wire.Thread, ownerChanges int64) {
	h.sawOwner(thread.Owner, ownerChanges)
	h.progress = h.walker.Progress
	h.moveTo(h.progress.Position())
}

// begin does the work of [hub.state] for the first client of a hub, and starts the hub. It moves the hub to the present
// in the same transaction, so that the hub reads nothing before something new comes.
func (h *hub) begin(
	ctx context.Context, createdAt time.Time, also func(v store.View) error,
) (state walk.PositionedFrame, notices int64, err error) {
	defer h.start()
	h.stateLock.Lock()
	defer h.stateLock.Unlock()
	h.dirty.Store(false)
	changes := h.ownerChanges()
	thread, err := h.walker.ToPresent(ctx, func(v store.View, thread wire.Thread) error {
		if err := h.notice.start(v, thread); err != nil {
			return err
		}
		state, err = stateOf(v, createdAt, also)
		return err
	})
	if err != nil {
		h.dirty.Store(true) // the hub moves to the present by itself
		return state, 0, err
	}
	h.isAtPresent(thread, changes)
	return state, h.noticeCount(), nil
}

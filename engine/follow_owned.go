package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// A thread can be given to another subject while somebody follows it. All followers share the
// frames of a hub, which reads the thread for nobody in particular. So the hub keeps whose the
// thread was when it read the frames, and a follower that sees only threads of its own looks at
// that before it passes frames on. Where the hub does not know, or knows of somebody else, the
// follower asks the store.

// ownership is whose a thread is, as its hub knows it.
type ownership struct {
	subject string
	known   bool
	// changes counts the wake-ups that told of a change. A read that began before the last one
	// says nothing of the owner.
	changes int64
}

// ownerChanged has the followers ask the store whose the thread is, at once.
func (h *hub) ownerChanged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owner.known = false
	h.owner.changes++
	h.change()
}

// ownerChanges returns what [hub.sawOwner] needs of a time before the read.
func (h *hub) ownerChanges() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.owner.changes
}

// sawOwner notes whose the thread was at the read whose frames are pushed next.
func (h *hub) sawOwner(subject string, changes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owner.changes != changes {
		return
	}
	if h.owner.subject != subject {
		h.change()
	}
	h.owner.subject, h.owner.known = subject, true
}

// missedOwner notes that the frames which are pushed next were read without the owner.
func (h *hub) missedOwner() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owner.known = false
}

// askOwner notes whose the thread is behind a read of a run stream alone, for followers that
// see only threads of their own. A wake-up can get lost, and a step can go on for long.
func (h *hub) askOwner(ctx context.Context) {
	if h.owned.Load() == 0 {
		h.missedOwner()
		return
	}
	changes := h.ownerChanges()
	thread, err := h.e.Thread(ctx, h.key)
	if err != nil {
		h.missedOwner()
		return
	}
	h.sawOwner(thread.Owner, changes)
}

// ownedBy reports whether the thread was that subject's when the hub has last read it.
func (h *hub) ownedBy(subject string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.owner.known && h.owner.subject == subject
}

// checkOwner returns [errOver] for a follower that must not see the thread any more. It is
// called when the frames that come next are known and nobody has got them.
func (f *follower) checkOwner(ctx context.Context) error {
	if f.subject == nil || f.hub.ownedBy(*f.subject) {
		return nil
	}
	return f.overWithoutThread(f.e.checkOwner(ctx, f.hub.key))
}

// allowed returns the frames if the follower may still see the thread.
func (f *follower) allowed(ctx context.Context, frames []ringFrame) ([]ringFrame, error) {
	if err := f.checkOwner(ctx); err != nil {
		releaseFormed(frames)
		f.release()
		return nil, err
	}
	return frames, nil
}

// overWithoutThread returns [errOver] in place of the error of a thread that a follower of its
// own threads does not find. It was deleted, or is somebody else's now.
func (f *follower) overWithoutThread(err error) error {
	if f.subject != nil && spool.CodeOf(err) == spool.NotFound {
		return errOver
	}
	return err
}

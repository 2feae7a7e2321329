package live

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
)

// FormedFollower is a client that follows a thread with the snapshots of whole threads in another
// form. It is for one goroutine.
type FormedFollower struct{ f *follower }

// FollowFormed follows as [Hubs.Follow] does, with the snapshots of whole threads in another form.
// It returns once the follower has its place. The caller must call Frames or Close.
func (h *Hubs) FollowFormed(ctx context.Context, key spool.ThreadKey, c Client, form spool.SnapshotForm) (*FormedFollower, error) {
	f, err := h.follower(ctx, key, c, walk.Mode{Form: form})
	if err != nil {
		return nil, err
	}
	return &FormedFollower{f}, nil
}

// Close ends the follower. It may be called more than once, and behind Frames.
func (f *FormedFollower) Close() { f.f.close() }

// Frames yields the frames as [Hubs.Follow] does, those that are there at the same time in one
// batch, and closes the follower. A follower that is closed yields nothing. A batch is good until the
// next one. An empty batch says that nothing has come for as long as idle; a zero idle yields none.
func (f *FormedFollower) Frames(ctx context.Context, idle time.Duration) iter.Seq2[[]spool.FormedFrame, error] {
	return func(yield func([]spool.FormedFrame, error) bool) {
		if f.f.closed {
			return
		}
		f.f.batches(ctx, idle, func(frames []ringFrame, err error) bool {
			shared, _ := formedBatches.Get().(*[maxBatch]spool.FormedFrame)
			batch := shared[:0]
			for i := range frames {
				batch = append(batch, spool.FormedFrame{Frame: frames[i].Frame, Formed: frames[i].Formed})
			}
			more := yield(batch, err)
			clear(shared[:])
			formedBatches.Put(shared)
			return more
		})
	}
}

// formedBatches are shared, so that a client that waits holds none.
var formedBatches = sync.Pool{New: func() any { return new([maxBatch]spool.FormedFrame) }}

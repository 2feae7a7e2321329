package live

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

// FormedFollower follows a thread for one client, with snapshots in another form. Only one goroutine
// may use it.
type FormedFollower struct{ f *follower }

// FollowFormed follows as [Hubs.Follow] does, but the snapshots of whole threads have another form.
// When it returns, the follower has its position. The caller must call Frames or Close.
func (h *Hubs) FollowFormed(
	ctx context.Context, key spool.ThreadKey, c Client, form wire.SnapshotForm,
) (*FormedFollower, error) {
	f, err := h.follower(ctx, key, c, walk.Mode{Form: form})
	if err != nil {
		return nil, err
	}
	return &FormedFollower{f}, nil
}

// Close ends the follower. It may be called more than once, and after Frames has ended.
func (f *FormedFollower) Close() { f.f.close() }

// Frames yields the frames of [Hubs.Follow] in batches, and closes the follower at the end. A batch has
// the frames that are available at the same time, and is valid until the next one. Frames yields an
// empty batch when no frame came for the duration idle; a zero idle turns empty batches off. A closed
// follower yields nothing.
func (f *FormedFollower) Frames(ctx context.Context, idle time.Duration) iter.Seq2[[]wire.FormedFrame, error] {
	return func(yield func([]wire.FormedFrame, error) bool) {
		if f.f.closed {
			return
		}
		f.f.batches(ctx, idle, func(frames []ringFrame, err error) bool {
			return yieldFormed(frames, func(batch []wire.FormedFrame) bool { return yield(batch, err) })
		})
	}
}

// yieldFormed yields frames of a ring as one batch.
func yieldFormed(frames []ringFrame, yield func([]wire.FormedFrame) bool) bool {
	shared, _ := formedBatches.Get().(*[maxBatch]wire.FormedFrame)
	batch := shared[:0]
	for i := range frames {
		batch = append(batch, wire.FormedFrame{Frame: frames[i].Frame, Formed: frames[i].Formed})
	}
	more := yield(batch)
	clear(shared[:])
	formedBatches.Put(shared)
	return more
}

// formedBatches is a pool, so that a waiting client uses no memory for a batch.
var formedBatches = sync.Pool{New: func() any { return new([maxBatch]wire.FormedFrame) }}

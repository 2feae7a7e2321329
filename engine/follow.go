package engine

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/live"
	"github.com/spoolhq/spool/wire"
)

// FormedFollower follows a thread for one client, with snapshots in another form. Only one goroutine
// may use it.
type FormedFollower struct{ of *live.FormedFollower }

// Frames yields the frames of [Watcher.Follow] in batches, and closes the follower at the end. A batch
// is valid until the next one. Frames yields an empty batch when no frame came for the duration idle; a
// zero idle turns empty batches off. A closed follower yields nothing.
func (f *FormedFollower) Frames(ctx context.Context, idle time.Duration) iter.Seq2[[]wire.FormedFrame, error] {
	return f.of.Frames(ctx, idle)
}

// Advance yields one batch of frames, as Frames does, and waits for it for up to the duration wait. It is to
// Frames what [EventStream.Advance] is to Chunks. Use either Advance or Frames.
func (f *FormedFollower) Advance(
	ctx context.Context, wait time.Duration, wake func(), yield func([]wire.FormedFrame) bool,
) (asleep bool, err error) {
	return f.of.Advance(ctx, wait, wake, yield)
}

// Close ends the follower. It may be called more than once, and after Frames has ended.
func (f *FormedFollower) Close() { f.of.Close() }

// Follow yields the frames of a thread after the position in o, and goes on with new frames. It ends
// when ctx ends, the caller stops, the thread is deleted or the engine is closed. It also ends when the
// thread gets another owner and the actor of ctx may see only its own threads.
//
// No frame is lost, repeated or out of order. If frames have expired, one snapshot frame replaces them.
// User turns are in the order in which users said them; the turns right after the cursor's seq may come
// again. The first frame, and the frame after a snapshot, is a notice of the thread's state.
//
// An error ends the sequence: a [spool.NotFound] error for a thread that does not exist, ctx's own
// error when ctx ended, or the store's error.
func (w *Watcher) Follow(ctx context.Context, key spool.ThreadKey, o wire.FollowOptions) iter.Seq2[wire.Frame, error] {
	return w.live.Follow(ctx, key, client(ctx, o))
}

// FollowRecord yields the record entries after the seq since, and notices, but no items of run streams.
// It ends as [Watcher.Follow] does.
func (w *Watcher) FollowRecord(ctx context.Context, key spool.ThreadKey, since int64) iter.Seq2[wire.Entry, error] {
	return w.live.FollowRecord(ctx, key, client(ctx, wire.FollowOptions{Cursor: &wire.Cursor{Seq: since}}))
}

// FollowFormed follows as [Watcher.Follow] does, but the snapshots of whole threads have another form.
// When it returns, the follower has its position and misses no live event from then on. Its errors are
// the ones that Follow yields first. The caller must call Frames or Close.
func (w *Watcher) FollowFormed(
	ctx context.Context, key spool.ThreadKey, o wire.FollowOptions, form wire.SnapshotForm,
) (*FormedFollower, error) {
	follower, err := w.live.FollowFormed(ctx, key, client(ctx, o), form)
	if err != nil {
		return nil, err
	}
	return &FormedFollower{follower}, nil
}

// ReadStream yields the items of one run stream after the given offset, and ends after the stream's
// last item. It yields an [store.ErrStreamGone] error if the stream has expired, also after it has
// yielded items.
func (w *Watcher) ReadStream(
	ctx context.Context, key spool.ThreadKey, id wire.StreamID, after wire.Offset,
) iter.Seq2[wire.Item, error] {
	return w.live.ReadStream(ctx, key, id, after, client(ctx, wire.FollowOptions{}))
}

// Watched reports whether clients follow the thread or wait for one of its runs, in any process, or begin to
// within the given time. It returns as soon as it knows of one. An error is ctx's own, or says that the engine is
// closed or that other processes cannot be asked.
//
// Other processes are asked by wake-ups, again and again. So a client of another process is missed if all of them
// get lost, as in an outage of the wake-ups.
func (w *Watcher) Watched(ctx context.Context, key spool.ThreadKey, within time.Duration) (bool, error) {
	return w.live.Watched(ctx, key, within)
}

// client returns a client that sees only what the actor of ctx may see.
func client(ctx context.Context, o wire.FollowOptions) live.Client {
	c := live.Client{FollowOptions: o}
	if actor := actor.Of(ctx); actor.OwnOnly {
		c.Subject = &actor.Subject
	}
	return c
}

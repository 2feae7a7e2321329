package engine

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/live"
)

// FollowOptions say from where to follow.
type FollowOptions = spool.FollowOptions

// FormedFrame is a frame whose snapshot is in another form.
type FormedFrame = spool.FormedFrame

// FormedFollower is a client that follows a thread with the snapshots of whole threads in another
// form. It is for one goroutine.
type FormedFollower struct{ of *live.FormedFollower }

// Frames yields the frames as [Watcher.Follow] does, those that are there at the same time in one
// batch, and closes the follower. A batch is good until the next one. An empty batch says that
// nothing has come for as long as idle; a zero idle yields none. A follower that is closed yields
// nothing.
func (f *FormedFollower) Frames(ctx context.Context, idle time.Duration) iter.Seq2[[]FormedFrame, error] {
	return f.of.Frames(ctx, idle)
}

// Close lets go of the thread. It may be called more than once, and behind Frames.
func (f *FormedFollower) Close() { f.of.Close() }

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
func (w *Watcher) Follow(ctx context.Context, key spool.ThreadKey, o FollowOptions) iter.Seq2[spool.Frame, error] {
	return w.live.Follow(ctx, key, client(ctx, o))
}

// FollowRecord yields the record entries behind the seq since, and notices, without any
// run stream. It ends as [Watcher.Follow] does.
func (w *Watcher) FollowRecord(ctx context.Context, key spool.ThreadKey, since int64) iter.Seq2[spool.Entry, error] {
	return w.live.FollowRecord(ctx, key, client(ctx, FollowOptions{Cursor: &spool.Cursor{Seq: since}}))
}

// FollowFormed follows as [Watcher.Follow] does, with the snapshots of whole threads in another form.
// It returns once the follower has its place: none of the live events that are published from then on
// is missed. It returns the errors with which Follow may begin. The caller must call Frames or Close.
func (w *Watcher) FollowFormed(ctx context.Context, key spool.ThreadKey, o FollowOptions, form SnapshotForm) (*FormedFollower, error) {
	follower, err := w.live.FollowFormed(ctx, key, client(ctx, o), form)
	if err != nil {
		return nil, err
	}
	return &FormedFollower{follower}, nil
}

// ReadStream yields the items of one run stream behind the offset after, and ends behind
// the stream's last item. It yields an [spool.ErrStreamGone] error for a stream that is
// gone, also in the middle.
func (w *Watcher) ReadStream(ctx context.Context, key spool.ThreadKey, id spool.StreamID, after spool.Offset) iter.Seq2[spool.Item, error] {
	return w.live.ReadStream(ctx, key, id, after, client(ctx, FollowOptions{}))
}

// client returns a client that may see what the actor of ctx may.
func client(ctx context.Context, o FollowOptions) live.Client {
	c := live.Client{FollowOptions: o}
	if actor := actor.Of(ctx); actor.OwnOnly {
		c.Subject = &actor.Subject
	}
	return c
}

package client

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
)

// WatchOptions say how to watch a thread. The zero value works.
type WatchOptions struct {
	// GiveUpAfter ends the Watch with the last error when nothing has arrived for this long. Zero: never.
	GiveUpAfter time.Duration
	// Idle is how long a connection may bring no byte before it counts as dead. Defaults to 45 s.
	Idle time.Duration
	// OnFrame is called with each frame before the view that has it is yielded, such as for the events of an
	// application, which no view has. Nil: none.
	OnFrame func(spool.Frame)
	// OnRetry is called before each wait for a new connection, with the reason for the end of the last one. It
	// must not block. Nil: none.
	OnRetry func(err error, wait time.Duration)
}

// Watch yields what a user sees of a thread: the view of its snapshot at once, and after that the same view after each
// frame. It takes the snapshot, follows from there as [Client.Follow] does, and applies the frames, so nothing is missing
// and nothing comes twice, however often the connection is cut. A view is valid until the loop goes on.
//
// The sequence ends with an error, as that of Follow. The last view comes with it, or nil if there is none. A thread that
// does not exist is a [spool.NotFound] error.
func (c *Client) Watch(ctx context.Context, thread spool.ThreadID, o WatchOptions) iter.Seq2[*view.Thread, error] {
	return func(yield func(*view.Thread, error) bool) {
		w := watch{client: c, thread: thread, options: o, yield: yield}
		for w.once(ctx) {
		}
	}
}

// watch is one range over a Watch.
type watch struct {
	client  *Client
	thread  spool.ThreadID
	options WatchOptions
	yield   func(*view.Thread, error) bool
	// unreadable counts the frames in a row that could not be applied.
	unreadable int
}

// once takes a snapshot and follows it. It reports whether another snapshot is needed.
func (w *watch) once(ctx context.Context) (again bool) {
	s, err := w.snapshot(ctx)
	if err != nil {
		w.yield(nil, err)
		return false
	}
	shown := view.New(s)
	if !w.yield(shown, nil) {
		return false
	}
	follow := FollowOptions{
		Cursor: shown.Cursor(), GiveUpAfter: w.options.GiveUpAfter, Idle: w.options.Idle, OnRetry: w.options.OnRetry,
	}
	for f, err := range w.client.Follow(ctx, w.thread, follow) {
		if err == nil {
			err = shown.Apply(f)
			if err != nil && w.unreadable == 0 {
				w.unreadable++ // a snapshot may have it in another form
				return true
			}
		}
		if err != nil {
			w.yield(shown, err)
			return false
		}
		w.unreadable = 0
		if w.options.OnFrame != nil {
			w.options.OnFrame(f)
		}
		if !w.yield(shown, nil) {
			return false
		}
	}
	return false
}

// snapshot takes a snapshot, and tries again after failures that may pass.
func (w *watch) snapshot(ctx context.Context) (*spool.Snapshot, error) {
	began := time.Now()
	for failures := 1; ; failures++ {
		s, _, err := once[*spool.Snapshot](ctx, w.client, get("/api/agent/history", "threadId", string(w.thread)))
		if err == nil || !passing(err) || ctx.Err() != nil {
			return s, err
		}
		wait := w.client.options.Backoff.wait(failures, askedWait(err))
		if limit := w.options.GiveUpAfter; limit > 0 && time.Since(began)+wait > limit {
			return nil, err
		}
		if w.options.OnRetry != nil {
			w.options.OnRetry(err, wait)
		}
		if !pause(ctx, wait) {
			return nil, canceled(ctx)
		}
	}
}

package client

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

// WatchOptions say how to watch a thread. The zero value works.
type WatchOptions struct {
	// GiveUpAfter ends the Watch with the last error when nothing has arrived for this long. Zero: never.
	GiveUpAfter time.Duration
	// Idle is how long a connection may bring no byte before it counts as dead. Defaults to 45 s.
	Idle time.Duration
	// OnFrame is called with each frame before the view that has it is yielded, such as for the events of an
	// application, which no view has. Nil: none.
	OnFrame func(wire.Frame)
	// OnRetry is called before each wait for a new connection, with the reason for the end of the last one. It
	// must not block. Nil: none.
	OnRetry func(err error, wait time.Duration)
}

// Watch yields what a user sees of a thread: the view of its snapshot at once, and after that the same view after each
// frame. It takes the snapshot, follows from there as [Client.Follow] does, and applies the frames, so nothing is
// missing and nothing comes twice, however often the connection is cut. A view is valid until the loop goes on.
//
// The frames do not say how each run has ended that went on while the connection was cut. A second after Watch has seen
// such a run, it reads those ends from the server, and yields the view once more.
//
// The sequence ends with an error, as that of Follow. The last view comes with it, or nil if there is none. A thread
// that does not exist is a [spool.NotFound] error.
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
	ctx, cancel := context.WithCancel(ctx)
	m := &missed{client: w.client, thread: w.thread, requested: make(map[spool.RunID]bool)}
	left := make(chan struct{})
	followed := w.follow(ctx, shown.Cursor(), left)
	defer func() {
		close(left)
		cancel()
		for range followed { // until its connection is closed
		}
		m.wait()
	}()
	for {
		changed := false
		select {
		case n := <-followed:
			again, more := w.apply(n, shown)
			if !more {
				return again
			}
			changed = !n.waits()
		case <-m.due:
			m.request(ctx, shown)
		case a := <-m.answers:
			changed = m.apply(a, shown)
		}
		if changed && !w.yield(shown, nil) {
			return false
		}
		m.look(shown)
	}
}

// news is what comes of a Follow: a frame, or its end, or the wait for a new connection.
type news struct {
	frame wire.Frame
	err   error
	wait  time.Duration
}

// waits reports whether the follower waits for a new connection, because of err.
func (n news) waits() bool { return n.wait > 0 }

// follow follows a thread in a goroutine of its own, at most a frame ahead of the caller. The channel is closed at
// its end.
func (w *watch) follow(ctx context.Context, from *wire.Cursor, left <-chan struct{}) <-chan news {
	out := make(chan news)
	send := func(n news) bool {
		select {
		case out <- n:
			return true
		case <-left:
			return false
		}
	}
	o := FollowOptions{
		Cursor: from, GiveUpAfter: w.options.GiveUpAfter, Idle: w.options.Idle,
		OnRetry: func(err error, wait time.Duration) { send(news{err: err, wait: wait}) },
	}
	go func() {
		defer close(out)
		for f, err := range w.client.Follow(ctx, w.thread, o) {
			if !send(news{frame: f, err: err}) {
				return
			}
		}
	}()
	return out
}

// apply handles what a Follow has brought. It reports whether to go on, or else whether another snapshot is needed.
func (w *watch) apply(n news, shown *view.Thread) (again, more bool) {
	if n.waits() {
		if w.options.OnRetry != nil {
			w.options.OnRetry(n.err, n.wait)
		}
		return false, true
	}
	err := n.err
	if err == nil {
		err = shown.Apply(n.frame)
		if err != nil && w.unreadable == 0 {
			w.unreadable++ // a snapshot may have it in another form
			return true, false
		}
	}
	if err != nil {
		w.yield(shown, err)
		return false, false
	}
	w.unreadable = 0
	if w.options.OnFrame != nil {
		w.options.OnFrame(n.frame)
	}
	return false, true
}

// snapshot takes a snapshot, and tries again after failures that may pass.
func (w *watch) snapshot(ctx context.Context) (*wire.Snapshot, error) {
	began := time.Now()
	for failures := 1; ; failures++ {
		s, _, err := once[*wire.Snapshot](ctx, w.client, get("/api/agent/history", "threadId", string(w.thread)))
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

package openai

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// errSilent is the cause of a request that ended because nothing arrived.
var errSilent = errors.New("nothing arrived in time")

// watch cancels a request when the server is silent for too long. Time in which the caller does not
// read does not count.
type watch struct {
	ctx    context.Context //nolint:containedctx // lives for one call of Stream
	parent context.Context //nolint:containedctx // as above
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
}

func newWatch(parent context.Context) *watch {
	ctx, cancel := context.WithCancelCause(parent)
	return &watch{ctx: ctx, parent: parent, cancel: cancel}
}

// start gives the server the time d to send something. A negative d stands for ever.
func (w *watch) start(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case d < 0:
		w.stopTimer()
	case w.timer == nil:
		w.limit = d
		w.timer = time.AfterFunc(d, func() { w.cancel(errSilent) })
	default:
		w.limit = d
		w.timer.Reset(d)
	}
}

// pause stops the timer.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
}

// stopTimer stops the timer. The caller must hold mu.
func (w *watch) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// stop ends the request.
func (w *watch) stop() {
	w.pause()
	w.cancel(context.Canceled)
}

// ended returns the error of the caller's context, or nil while that context goes on.
func (w *watch) ended() error { return w.parent.Err() }

// silent reports whether the request ended because nothing arrived.
func (w *watch) silent() bool {
	return w.parent.Err() == nil && errors.Is(context.Cause(w.ctx), errSilent)
}

// watchedBody is a body whose timer runs only during Read.
type watchedBody struct {
	body        io.ReadCloser
	watch       *watch
	first, next time.Duration
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.watch.start(b.first)
	defer b.watch.pause()
	n, err := b.body.Read(p)
	if n > 0 {
		b.first = b.next
	}
	return n, err
}

package modelhttp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// errSilent is the cause of a request that ended because nothing arrived.
var errSilent = errors.New("nothing arrived in time")

// Watch cancels a request when the server is silent for too long. Time in which the caller does not
// read does not count.
type Watch struct {
	ctx    context.Context //nolint:containedctx // lives for one request
	parent context.Context //nolint:containedctx // as above
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
}

// NewWatch returns a watch whose timer does not run yet. The caller must call Stop.
func NewWatch(parent context.Context) *Watch {
	ctx, cancel := context.WithCancelCause(parent)
	return &Watch{ctx: ctx, parent: parent, cancel: cancel}
}

// Context returns the context of the request. It ends with the caller's context, when the server is silent
// for too long, and with Stop.
func (w *Watch) Context() context.Context { return w.ctx }

// Limit returns the last limit that was given to Start.
func (w *Watch) Limit() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit
}

// Start gives the server the time d to send something. A negative d stands for ever.
func (w *Watch) Start(d time.Duration) {
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

// Pause stops the timer.
func (w *Watch) Pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
}

// stopTimer stops the timer. The caller must hold mu.
func (w *Watch) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// Stop ends the request.
func (w *Watch) Stop() {
	w.Pause()
	w.cancel(context.Canceled)
}

// Ended returns the error of the caller's context, or nil while that context goes on.
func (w *Watch) Ended() error { return w.parent.Err() }

// Silent reports whether the request ended because nothing arrived.
func (w *Watch) Silent() bool {
	return w.parent.Err() == nil && errors.Is(context.Cause(w.ctx), errSilent)
}

// Body is a body whose timer runs only during Read.
type Body struct {
	io.ReadCloser

	// Watch has the timer.
	Watch *Watch
	// First and Next are how long the server may take until its first byte, and until each later one.
	First, Next time.Duration
}

// Read reads from the body.
func (b *Body) Read(p []byte) (int, error) {
	b.Watch.Start(b.First)
	defer b.Watch.Pause()
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.First = b.Next
	}
	return n, err
}

package stream

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"
)

const (
	// linger is how long a goroutine waits for the next frames of a stream before the stream sleeps. A stream
	// with frames at a shorter distance costs no more than one inside a handler.
	linger = 250 * time.Millisecond
	// maxUnread is how many bytes a client may send after its request. A client with more is cut off.
	maxUnread = 64 << 10
	// closeTimeout is how long a client may take to close its connection after the end of the answer. Closing
	// earlier could destroy the end of the answer, if the client has sent more.
	closeTimeout = 500 * time.Millisecond
)

// The states of a stream. Only asleep has no goroutine that sends.
const (
	asleep int32 = iota
	awake
	woken // awake, and must look again before it sleeps
)

// takenOver is a stream whose connection was taken over from net/http. While nothing happens, it has only the
// goroutine that notices the client's end, whose stack is small. The goroutine that sends exists while there
// is something to send, and for a moment longer.
type takenOver struct {
	streams *Streams
	live    *Live
	events  advancing
	out     chunked
	// ctx ends when the client disconnects. It has the values of the request's context.
	ctx      context.Context //nolint:containedctx // the stream's lifetime
	cancel   context.CancelFunc
	ended    []func() // called at the end
	wakeFunc func()   // the method wake
	// forget makes the end of the stream's lifetime call wakeFunc no more. Nil: it has no end of its own.
	forget func() bool

	state    atomic.Int32
	sent     atomic.Int64 // when the client took the last piece, in nanoseconds
	closing  atomic.Bool  // the server shuts down
	finished atomic.Bool  // the answer has ended
	broken   bool         // the client took no more; only the sending goroutine uses it
	cut      bool         // a shutdown waits no longer; guarded by the streams
	unread   [64]byte     // for what the client sends after its request
}

// start begins to send.
func (t *takenOver) start() {
	t.wakeFunc = t.wake
	lasts := t.live.Lasts
	if _, ok := t.ctx.Deadline(); ok && lasts == nil {
		lasts = t.ctx
	}
	if lasts != nil {
		t.forget = context.AfterFunc(lasts, t.wakeFunc)
	}
	go t.watch()
	go t.begin()
}

// begin sends what the client has missed. It waits for its place with the small stack of a new goroutine.
func (t *takenOver) begin() {
	leave := t.streams.beginning.enter()
	defer leave()
	t.run(0) // other frames need not follow soon
}

// wake makes the stream look for frames and for its end. It never blocks.
func (t *takenOver) wake() {
	for {
		switch {
		case t.state.CompareAndSwap(asleep, awake):
			go t.run(linger)
			return
		case t.state.CompareAndSwap(awake, woken), t.state.Load() == woken:
			return
		}
	}
}

// run sends what there is, until the stream sleeps or ends. After frames, it waits for more for the given time.
func (t *takenOver) run(more time.Duration) {
	defer t.afterPanic()
	var wait time.Duration
	var closeBy time.Time
	for !t.broken {
		closing := t.closing.Load()
		if closing {
			wait = linger // what the shutdown itself causes still comes
			if closeBy.IsZero() {
				closeBy = time.Now().Add(4 * linger)
			}
		}
		before := t.sent.Load()
		sleeps, err := t.events.Advance(wait, t.wakeFunc, t.send)
		switch {
		case errors.Is(err, io.EOF):
			t.end(nil)
			return
		case err != nil:
			t.end(err)
			return
		case closing && (t.sent.Load() == before || time.Now().After(closeBy)):
			t.send(t.events.ComeBack())
			t.end(nil)
			return
		case !sleeps && t.sent.Load() == before: // the stream waits for what storage does not have yet
			wait = linger
			continue
		case !sleeps:
			wait = more
			continue
		case !t.keepAlive():
			continue
		case t.state.CompareAndSwap(awake, asleep):
			return
		}
		t.state.Store(awake)
		wait = 0
	}
	t.end(nil)
}

// send reports whether the client took the piece.
func (t *takenOver) send(piece []byte) bool {
	if !t.streams.Send(&t.out, piece) {
		t.broken = true
		return false
	}
	t.sent.Store(time.Now().UnixNano())
	return true
}

// keepAlive sends a sign of life if nothing was sent for long. It returns false if the client did not take it.
func (t *takenOver) keepAlive() bool {
	return time.Now().Before(t.keepAliveAt()) || t.send(t.events.Keepalive())
}

// keepAliveAt returns when the next sign of life is due.
func (t *takenOver) keepAliveAt() time.Time {
	return time.Unix(0, t.sent.Load()).Add(t.streams.config.Engine.StreamOptions().Keepalive)
}

// watch ends the stream when the client disconnects, and wakes it for its signs of life. It needs little
// stack, because there is one goroutine for each stream.
func (t *takenOver) watch() {
	for left := maxUnread; left >= 0; {
		finished := t.finished.Load()
		_ = t.out.conn.SetReadDeadline(t.readUntil(finished))
		if t.finished.Load() != finished {
			continue // the stream has ended in between, and its deadline was overwritten
		}
		n, err := t.out.conn.Read(t.unread[:])
		left -= n
		if err != nil && (finished || !errors.Is(err, os.ErrDeadlineExceeded)) {
			break
		}
	}
	t.cancel()
	t.wake()
	_ = t.out.conn.Close()
}

// readUntil wakes the stream if a sign of life is due, and returns when the next one is.
func (t *takenOver) readUntil(finished bool) time.Time {
	now := time.Now()
	if finished {
		return now.Add(closeTimeout)
	}
	due := t.keepAliveAt()
	if due.After(now) {
		return due
	}
	t.wake()
	return now.Add(t.streams.config.Engine.StreamOptions().Keepalive)
}

// end ends the answer, with the error that ended the events or nil.
func (t *takenOver) end(err error) {
	gone := errors.Is(t.ctx.Err(), context.Canceled)
	if !t.broken && !gone {
		t.live.conclude(t.ctx, &t.out, err)
	}
	t.release()
	if t.broken || gone || !t.finish() {
		_ = t.out.conn.Close()
	}
	t.leave()
}

// finish sends the end of the answer, and leaves the connection to watch. It returns false if the client did
// not take the end.
func (t *takenOver) finish() bool {
	_ = t.out.SetWriteDeadline(time.Now().Add(t.streams.config.Timeout))
	if err := t.out.end(); err != nil {
		return false
	}
	half, ok := t.out.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return false
	}
	t.finished.Store(true)
	_ = t.out.conn.SetReadDeadline(time.Now().Add(closeTimeout))
	return true
}

// release releases what the stream uses of the engine, and its slot.
func (t *takenOver) release() {
	if t.forget != nil {
		t.forget()
	}
	t.live.Close()
}

// leave ends the stream for the rest of the server.
func (t *takenOver) leave() {
	for _, ended := range t.ended {
		ended()
	}
	if !t.finished.Load() { // else watch does so
		t.cancel()
	}
	t.streams.remove(t)
}

// afterPanic cuts the connection after a panic, so that the client does not take a part for the whole.
func (t *takenOver) afterPanic() {
	reason := recover()
	if reason == nil {
		return
	}
	t.streams.config.Log.ErrorContext(t.ctx, "stream panicked", "thread", t.live.key.ID, "panic", reason, "stack",
		string(debug.Stack()))
	_ = t.out.conn.Close()
	t.release()
	t.leave()
}

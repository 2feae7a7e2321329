package engine

import (
	"context"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/live"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/wire"
)

// SSEHeaders returns the header of an event stream.
func SSEHeaders() http.Header {
	return http.Header{
		"Content-Type":      {"text/event-stream; charset=utf-8"},
		"Cache-Control":     {"no-cache, no-transform"},
		"Connection":        {"keep-alive"},
		"X-Accel-Buffering": {"no"},
	}
}

// StreamOptions returns the engine's configuration of streams, with the defaults filled in.
func (w *Watcher) StreamOptions() option.Stream { return w.config.Stream }

// EventStream is the header and body of an event stream. Only one goroutine may use it. The caller must
// read it to its end or close it.
type EventStream struct {
	// Header is the header of the response, whose status is 200.
	Header http.Header

	events *live.EventStream
	next   func() ([]byte, error, bool)
	stop   func()
	unread []byte
}

// SSE returns the frames of [Watcher.Follow] as server-sent events: a header and a body that the caller
// writes to its response. The stream ends when ctx ends. SSE returns a [spool.NotFound] error for a
// thread that does not exist, and an [spool.Invalid] error for an unknown wire format.
func (w *Watcher) SSE(ctx context.Context, key spool.ThreadKey, o wire.SSEOptions) (*EventStream, error) {
	if o.WireFormat != "" {
		return nil, spool.Errorf(spool.Invalid, "wireFormat: there is none of the name %q", o.WireFormat)
	}
	from := wire.FollowOptions{LastMessageID: o.LastMessageID, CreatedAt: o.CreatedAt}
	if c, ok := wire.ParseCursor(o.Cursor); ok {
		from.Cursor = &c
	} else if o.Since != nil {
		from.Cursor = &wire.Cursor{Seq: *o.Since}
	}
	events, err := w.live.SSE(ctx, key, client(ctx, from), o)
	if err != nil {
		return nil, err
	}
	return &EventStream{Header: SSEHeaders(), events: events}, nil
}

// Chunks yields the body in pieces of one or more whole messages. The caller should flush each piece. A
// snapshot of more than 64 KiB is split into several pieces. Other clients share the pieces: callers
// must not change them. The sequence ends without an error when the thread is deleted or the engine is
// closed, and with an error otherwise.
func (s *EventStream) Chunks() iter.Seq2[[]byte, error] { return s.events.Chunks() }

// Advance yields the pieces of one batch of frames, as Chunks does, and waits for them for up to the
// duration wait. With it a stream needs no goroutine while nothing happens. Use either Advance or Chunks.
//
// If asleep is true, the caller calls Advance again when wake was called, which must not block. The end of
// the context of [Watcher.SSE] does not call wake. If asleep is false, the caller may call Advance at once.
// Advance sends no keepalive messages.
//
// Advance returns [io.EOF] when the thread was deleted, the engine was closed, or yield returned false.
// After any error, the stream is closed.
func (s *EventStream) Advance(wait time.Duration, wake func(), yield func([]byte) bool) (asleep bool, err error) {
	return s.events.Advance(wait, wake, yield)
}

// Keepalive returns the message that keeps an idle stream alive. Callers must not change it.
func (s *EventStream) Keepalive() []byte { return s.events.Keepalive() }

// ComeBack returns the last piece of a stream that the server ends before the engine is closed. It tells
// the client to reconnect after a random delay, so that clients do not come back all at once.
func (s *EventStream) ComeBack() []byte { return s.events.ComeBack() }

// Read reads the body, so that an EventStream is an [io.ReadCloser]. Chunks is cheaper.
func (s *EventStream) Read(p []byte) (int, error) {
	if s.next == nil {
		s.next, s.stop = iter.Pull2(s.Chunks())
	}
	for len(s.unread) == 0 {
		chunk, err, ok := s.next()
		switch {
		case !ok:
			return 0, io.EOF
		case err != nil:
			return 0, err
		}
		s.unread = chunk
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

// Close ends the stream. It is not needed when Chunks has ended.
func (s *EventStream) Close() error {
	if s.stop != nil {
		s.stop()
	}
	s.events.Close()
	return nil
}

// FollowFrame returns a frame as a server-sent event. It moves the cursor at past the frame, or to the
// frame's own cursor if the frame has one. A notice has no id, and does not move the cursor.
func FollowFrame(f wire.Frame, at *wire.Cursor) []byte { return live.FollowFrame(f, at) }

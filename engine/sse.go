package engine

import (
	"context"
	"io"
	"iter"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/live"
)

// SSEOptions say from where and how to stream.
type SSEOptions = spool.SSEOptions

// SSEHeaders returns the header of an event stream.
func SSEHeaders() http.Header {
	return http.Header{
		"Content-Type":      {"text/event-stream; charset=utf-8"},
		"Cache-Control":     {"no-cache, no-transform"},
		"Connection":        {"keep-alive"},
		"X-Accel-Buffering": {"no"},
	}
}

// EventStream is an event stream's header and body. It is for one goroutine, and must be
// read to its end or closed.
type EventStream struct {
	// Header is for the answer, whose status is 200.
	Header http.Header

	events *live.EventStream
	next   func() ([]byte, error, bool)
	stop   func()
	unread []byte
}

// SSE follows the thread as [Watcher.Follow] does, encoded as server-sent events. It hands
// back a header and a body and does not write any answer itself; ctx is what ends the
// stream. It returns a [spool.NotFound] error for a thread that does not exist, and an
// [spool.Invalid] one for a wire format that it does not have.
func (w *Watcher) SSE(ctx context.Context, key spool.ThreadKey, o SSEOptions) (*EventStream, error) {
	if o.WireFormat != "" {
		return nil, spool.Errorf(spool.Invalid, "wireFormat: there is none of the name %q", o.WireFormat)
	}
	from := FollowOptions{LastMessageID: o.LastMessageID, CreatedAt: o.CreatedAt}
	if c, ok := spool.ParseCursor(o.Cursor); ok {
		from.Cursor = &c
	} else if o.Since != nil {
		from.Cursor = &spool.Cursor{Seq: *o.Since}
	}
	events, err := w.live.SSE(ctx, key, client(ctx, from), o)
	if err != nil {
		return nil, err
	}
	return &EventStream{Header: SSEHeaders(), events: events}, nil
}

// Chunks yields the body in pieces of one or more whole messages, each of which should
// be flushed. A snapshot of more than 64 KiB comes in several pieces. A piece is shared with
// other clients and must not be changed. The sequence ends without an error when the thread is
// deleted or the engine is closed, and with one otherwise.
func (s *EventStream) Chunks() iter.Seq2[[]byte, error] { return s.events.Chunks() }

// Read reads the body, which makes an EventStream an [io.ReadCloser]. Chunks is cheaper.
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

// Close lets go of the thread. It is not needed after Chunks has ended.
func (s *EventStream) Close() error {
	if s.stop != nil {
		s.stop()
	}
	s.events.Close()
	return nil
}

// FollowFrame returns a frame as a server-sent event, and moves the cursor at to where a
// reader of it stands. The frame's own cursor is taken where it has one. A notice moves
// nothing and has no id.
func FollowFrame(f spool.Frame, at *spool.Cursor) []byte { return live.FollowFrame(f, at) }

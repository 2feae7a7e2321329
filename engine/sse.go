package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
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

	ctx    context.Context //nolint:containedctx // it is the stream's lifetime, as a request's is
	f      *follower
	retry  time.Duration
	close  sync.Once
	events bool // what keeps the stream alive is an event
	next   func() ([]byte, error, bool)
	stop   func()
	unread []byte
}

// SSE follows the thread as [Engine.Follow] does, encoded as server-sent events. It hands
// back a header and a body and does not write any answer itself; ctx is what ends the
// stream. It returns a [spool.NotFound] error for a thread that does not exist, and an
// [spool.Invalid] one for a wire format that it does not have.
func (e *Engine) SSE(ctx context.Context, key spool.ThreadKey, o SSEOptions) (*EventStream, error) {
	if o.WireFormat != "" {
		return nil, spool.Errorf(spool.Invalid, "wireFormat: there is none of the name %q", o.WireFormat)
	}
	follow := FollowOptions{LastMessageID: o.LastMessageID, CreatedAt: o.CreatedAt}
	if c, ok := spool.ParseCursor(o.Cursor); ok {
		follow.Cursor = &c
	} else if o.Since != nil {
		follow.Cursor = &spool.Cursor{Seq: *o.Since}
	}
	f, err := e.followWith(ctx, key, follow, walker{encodes: true})
	if err != nil {
		return nil, err
	}
	if o.Retry == 0 {
		o.Retry = e.config.RetryHint
	}
	return &EventStream{Header: SSEHeaders(), ctx: ctx, f: f, retry: o.Retry, events: o.KeepaliveEvent}, nil
}

// Chunks yields the body in pieces of one or more whole messages, each of which should
// be flushed. A snapshot of more than 64 KiB comes in several pieces. A piece is shared with other clients and must not be changed. The sequence
// ends without an error when the thread is deleted or the engine is closed, and with one
// otherwise.
func (s *EventStream) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer func() { _ = s.release() }()
		if s.retry > 0 && !yield(retryLine(s.retry), nil) {
			return
		}
		for {
			frames, err := s.f.next(s.ctx, s.f.e.config.Keepalive)
			switch {
			case errors.Is(err, errIdle):
				if !yield(s.keepalive(), nil) {
					return
				}
				continue
			case errors.Is(err, errOver):
				yield(comeBack(s.retry, s.f.e.random()), nil)
				return
			case err != nil:
				yield(nil, err)
				return
			case len(frames) == 0:
				continue
			}
			if !yieldJoined(frames, yield) {
				return
			}
		}
	}
}

// joins are shared, so that a client that waits holds none.
var joins = sync.Pool{New: func() any { return new([]byte) }}

// maxJoined bounds the buffers that are kept.
const maxJoined = 1 << 20

// yieldJoined yields frames as one piece, and encoded snapshots as they are.
func yieldJoined(frames []ringFrame, yield func([]byte, error) bool) bool {
	for i := range frames {
		if snap := frames[i].encoded; snap != nil {
			return (i == 0 || yieldJoined(frames[:i], yield)) && yieldSnapshot(snap, frames[i].Cursor, yield) &&
				(i == len(frames)-1 || yieldJoined(frames[i+1:], yield))
		}
	}
	size := 0
	for i := range frames {
		frames[i].encode()
		size += len(frames[i].text)
	}
	if len(frames) == 1 {
		return yield(frames[0].text, nil)
	}
	joined, _ := joins.Get().(*[]byte)
	text := slices.Grow((*joined)[:0], size)
	for i := range frames {
		text = append(text, frames[i].text...)
	}
	more := yield(text, nil)
	if cap(text) <= maxJoined {
		*joined = text
		joins.Put(joined)
	}
	return more
}

// Read reads the body, which makes an EventStream an [io.ReadCloser]. Chunks is cheaper.
func (s *EventStream) Read(p []byte) (int, error) {
	if s.next == nil {
		s.next, s.stop = pull(s.Chunks())
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

func pull(chunks iter.Seq2[[]byte, error]) (next func() ([]byte, error, bool), stop func()) {
	return iter.Pull2(chunks)
}

// Close lets go of the thread. It is not needed after Chunks has ended.
func (s *EventStream) Close() error {
	if s.stop != nil {
		s.stop()
	}
	return s.release()
}

func (s *EventStream) release() error {
	s.close.Do(s.f.close)
	return nil
}

// Close ends all event streams of this process: their clients are told when to come back,
// each a little later than the next so that they do not come all at once. It does not
// stop workers, and may be called more than once. Metrics that are read when they are
// collected are not any more.
func (e *Engine) Close() {
	e.closeOnce.Do(func() {
		close(e.closing)
		e.snapshots.Close()
		e.unobserved()
	})
}

var (
	keepalive      = []byte(": keepalive\n\n")
	keepaliveEvent = []byte("event: keepalive\ndata: {}\n\n")
)

// keepalive returns what is said on an idle stream.
func (s *EventStream) keepalive() []byte {
	if s.events {
		return keepaliveEvent
	}
	return keepalive
}

func retryLine(d time.Duration) []byte {
	return []byte("retry: " + strconv.FormatInt(d.Milliseconds(), 10) + "\n\n")
}

// comeBack is the last piece of a stream that the server ends.
func comeBack(retry time.Duration, r random) []byte {
	if retry <= 0 {
		return keepalive
	}
	return retryLine(retry + r.upTo(retry))
}

// FollowFrame returns a frame as a server-sent event, and moves the cursor at to where a
// reader of it stands. The frame's own cursor is taken where it has one. A notice moves
// nothing and has no id.
func FollowFrame(f spool.Frame, at *spool.Cursor) []byte {
	if f.Cursor == nil {
		f.Cursor = moved(f, *at)
	}
	if f.Cursor != nil {
		*at = *f.Cursor
	}
	return encodeFrame(f)
}

// moved returns where a reader at c stands behind the frame, nil for a notice.
func moved(f spool.Frame, c spool.Cursor) *spool.Cursor {
	switch {
	case f.Kind == spool.FrameStream:
		c.Stream, c.Offset = f.StreamID, f.Item.Offset
	case f.Kind == spool.FrameSnapshot:
		c = f.Snapshot.Cursor()
	case f.Event.Seq <= 0:
		return nil
	default:
		c.Seq = f.Event.Seq
		if id, err := record.StreamOf(*f.Event); err == nil && f.Event.Type == spool.EntryRunStarted {
			c.Stream, c.Offset = id, spool.Offset{}
		}
	}
	return &c
}

// encode makes the SSE message, unless it is there. The ring has it as long as somebody
// reads it as such; another client of the ring needs the frame alone.
func (f *ringFrame) encode() {
	if f.text == nil {
		f.text = encodeFrame(f.Frame)
	}
}

// size returns how many bytes the frame takes in the ring, about.
func (f *ringFrame) size() int {
	switch {
	case f.text != nil:
		return len(f.text)
	case f.Kind == spool.FrameStream:
		return entryBytes + len(f.Item.Data)
	default:
		return entryBytes + len(f.Event.Payload)
	}
}

// entryBytes is what a frame takes beside its own fields, about.
const entryBytes = 320

// encodeFrame returns a frame as a server-sent event.
func encodeFrame(f spool.Frame) []byte {
	if f.Kind == spool.FrameThread && plainPayload(f.Event) {
		b := make([]byte, 0, entryBytes+len(f.Event.Payload))
		b = appendEntry(appendID(b, f.Cursor), f.Event)
		return append(b, "\n\n"...)
	}
	body, err := f.MarshalJSON()
	if err != nil {
		body = []byte(`{"kind":"error"}`) // what is stored always encodes
	}
	b := appendID(make([]byte, 0, len(body)+96), f.Cursor)
	b = append(b, body...)
	return append(b, "\n\n"...)
}

// appendID writes the id line, where there is one, and the start of the data line.
func appendID(b []byte, c *spool.Cursor) []byte {
	if c != nil {
		b = append(b, "id: "...)
		b = append(b, c.String()...)
		b = append(b, '\n')
	}
	return append(b, "data: "...)
}

// plainPayload reports whether the payload can be on the wire as it is stored.
func plainPayload(e *spool.Entry) bool {
	return len(e.Payload) > 0 && bytes.IndexByte(e.Payload, '\n') < 0
}

// appendEntry writes what [spool.Frame.MarshalJSON] writes for an entry whose payload was
// encoded before, for a fifth of its time: a long replay is little else. The names and
// ids are of a kind that needs no quoting.
func appendEntry(b []byte, e *spool.Entry) []byte {
	b = append(b, `{"kind":"thread","event":{"threadId":"`...)
	b = append(b, e.ThreadID...)
	b = append(b, `","seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = append(b, `,"type":"`...)
	b = append(b, e.Type...)
	b = append(b, `","payload":`...)
	b = append(b, e.Payload...)
	b = append(b, `,"createdAt":"`...)
	b = e.CreatedAt.AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if e.RunID != "" {
		b = append(b, `,"runId":"`...)
		b = append(b, e.RunID...)
		b = append(b, '"')
	}
	if e.PublishedBy != "" { // a subject may have any characters
		b = append(b, `,"publishedBy":`...)
		b = append(b, encode(e.PublishedBy)...)
	}
	if e.PublishedByTool != "" {
		b = append(b, `,"publishedByTool":`...)
		b = append(b, encode(e.PublishedByTool)...)
	}
	return append(b, "}}"...)
}

// yieldSnapshot yields a snapshot as a server-sent event. A large one comes in pieces, as
// a copy for each client is what sharing avoids.
func yieldSnapshot(s *EncodedSnapshot, at *spool.Cursor, yield func([]byte, error) bool) bool {
	head := append(appendID(nil, at), `{"kind":"snapshot","snapshot":`...)
	if s.Size <= maxWhole {
		for _, p := range s.Pieces {
			head = append(head, p...)
		}
		return yield(append(head, frameEnd...), nil)
	}
	if !yield(head, nil) {
		return false
	}
	for _, p := range s.Pieces {
		if !yield(p, nil) {
			return false
		}
	}
	return yield(frameEnd, nil)
}

// maxWhole is up to which size a snapshot is sent in one piece.
const maxWhole = 64 << 10

var frameEnd = []byte("}\n\n")

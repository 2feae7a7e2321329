package live

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

// EventStream is a follower whose frames are server-sent events. Only one goroutine may use it.
type EventStream struct {
	ctx    context.Context //nolint:containedctx // the stream's lifetime, like a request's context
	f      *follower
	retry  time.Duration
	events bool // keepalive messages are events, not comments
	begun  bool // Advance has been called
}

// SSE returns an event stream of the frames after the client's cursor. Of the options it uses Retry and
// KeepaliveEvent. The caller must call Chunks or Close.
func (h *Hubs) SSE(ctx context.Context, key spool.ThreadKey, c Client, o wire.SSEOptions) (*EventStream, error) {
	f, err := h.follower(ctx, key, c, walk.Mode{Encodes: true})
	if err != nil {
		return nil, err
	}
	return &EventStream{ctx: ctx, f: f, retry: cmp.Or(o.Retry, h.RetryHint), events: o.KeepaliveEvent}, nil
}

// Close ends the stream. It may be called more than once.
func (s *EventStream) Close() { s.f.close() }

// Chunks yields the body in pieces of one or more messages, and closes the stream at the end.
func (s *EventStream) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer s.Close()
		if s.retry > 0 && !yield(retryLine(s.retry), nil) {
			return
		}
		over := s.f.batches(s.ctx, s.f.hubs.Keepalive, func(frames []ringFrame, err error) bool {
			switch {
			case err != nil:
				return yield(nil, err)
			case len(frames) == 0:
				return yield(s.Keepalive(), nil)
			default:
				return yieldJoined(frames, yield)
			}
		})
		if over {
			yield(s.ComeBack(), nil)
		}
	}
}

// joins is a pool of buffers, so that a waiting client uses no memory for one.
var joins = sync.Pool{New: func() any { return new([]byte) }}

// maxJoined bounds the size of a buffer that goes back to the pool.
const maxJoined = 1 << 20

// yieldJoined yields frames as one piece. It yields encoded snapshots without a copy.
func yieldJoined(frames []ringFrame, yield func([]byte, error) bool) bool {
	for i := range frames {
		if snap := frames[i].Encoded; snap != nil {
			return (i == 0 || yieldJoined(frames[:i], yield)) && yieldSnapshot(snap, frames[i].Cursor, yield) &&
				(i == len(frames)-1 || yieldJoined(frames[i+1:], yield))
		}
	}
	if len(frames) == 1 && frames[0].text != nil {
		return yield(frames[0].text, nil)
	}
	joined, _ := joins.Get().(*[]byte)
	text := (*joined)[:0]
	for i := range frames {
		if frames[i].text != nil {
			text = append(text, frames[i].text...)
		} else {
			text = appendFrame(text, frames[i].Frame)
		}
	}
	more := yield(text, nil)
	if cap(text) <= maxJoined {
		*joined = text
		joins.Put(joined)
	}
	return more
}

// yieldSnapshot yields a snapshot as a server-sent event. It yields a large snapshot in several pieces,
// because clients share the bytes and a copy for each client would waste memory.
func yieldSnapshot(s *wire.EncodedSnapshot, at *wire.Cursor, yield func([]byte, error) bool) bool {
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

// maxWhole is the largest size of a snapshot that is sent in one piece.
const maxWhole = 64 << 10

var frameEnd = []byte("}\n\n")

var (
	keepalive      = []byte(": keepalive\n\n")
	keepaliveEvent = []byte("event: keepalive\ndata: {}\n\n")
)

// Keepalive returns the message that an idle stream sends.
func (s *EventStream) Keepalive() []byte {
	if s.events {
		return keepaliveEvent
	}
	return keepalive
}

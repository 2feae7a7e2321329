// Package stream opens the event streams of threads, in both formats, and sends them to clients. It limits
// the time of a write, the number of large writes at once, and the number of streams of a principal. It knows
// the engine, agui and the call, and not the server.
package stream

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// Config configures streams. All fields are required but Limit and NoTakeover.
type Config struct {
	Engine *engine.Engine
	Log    *slog.Logger
	// Timeout is how long a client may take to accept one write.
	Timeout time.Duration
	// Limit bounds the streams that a principal has open. Zero: no bound.
	Limit int
	// NoTakeover keeps each stream inside its handler.
	NoTakeover bool
	// Artifact returns the URL of an artifact of a thread.
	Artifact agui.Address
	// Draining ends when the server shuts down.
	Draining context.Context //nolint:containedctx // the lifetime of the server
}

// Streams are the open streams of a server. It is safe for concurrent use.
type Streams struct {
	config Config
	pacer  pacer
	// beginning has a place for each stream that sends its first frames.
	beginning places
	open      openStreams
	agui      wire.SnapshotForm

	mu    sync.Mutex
	conns conns
}

// New returns a Streams without open streams.
func New(c Config) *Streams {
	return &Streams{
		config: c, pacer: newPacer(), beginning: make(places, maxBeginning), agui: agui.NewForm(c.Artifact),
		conns: conns{open: make(map[*takenOver]struct{}), left: make(chan struct{}, 1)},
	}
}

// Write reports whether the client took all of the text, a piece at a time.
func (s *Streams) Write(w http.ResponseWriter, text []byte) bool {
	return s.pacer.send(w, text, s.config.Timeout)
}

// Open opens a stream that lasts as long as ctx does.
func (s *Streams) Open(ctx context.Context, key spool.ThreadKey, o wire.SSEOptions) (*Live, error) {
	// This is a fallback for runs that the sweeper has not seen yet. The stream does not need it.
	if _, err := s.config.Engine.ReclaimIfOrphaned(ctx, key); err != nil && spool.CodeOf(err) == spool.Internal {
		call.Log(s.config.Log).WarnContext(ctx, "reclaim failed", "error", call.About(ctx, err, key, ""))
	}
	events, err := s.source(ctx, key, o)
	if err != nil {
		return nil, call.About(ctx, err, key, "")
	}
	return &Live{streams: s, events: events, key: key}, nil
}

// source opens a stream in the format that was asked for.
func (s *Streams) source(ctx context.Context, key spool.ThreadKey, o wire.SSEOptions) (eventSource, error) {
	if o.WireFormat != wireFormatAGUI {
		stream, err := s.config.Engine.SSE(ctx, key, o)
		if err != nil {
			return nil, err
		}
		stream.Header = nil // all streams share sseHeaders
		return stream, nil
	}
	var have *wire.Cursor
	if c, ok := wire.ParseCursor(o.Cursor); ok {
		have = &c
	} else if o.Since != nil {
		have = &wire.Cursor{Seq: *o.Since}
	}
	opened, err := s.openAGUI(ctx, key, o.CreatedAt, agui.Options{}, have)
	if err != nil {
		return nil, err
	}
	opened.aliveEvent = o.KeepaliveEvent
	return opened, nil
}

// sseHeaders are shared by all streams, and never changed.
var sseHeaders = engine.SSEHeaders()

// Live is an open stream.
type Live struct {
	streams *Streams
	events  eventSource
	key     spool.ThreadKey
	// Slot is the stream's slot among those of its principal.
	Slot *Slot
	// Until is when the stream ends even if its run is not over. Zero: never.
	Until time.Time
	// Forget releases the resources for that end. Nil: there are none.
	Forget context.CancelFunc
	// Lasts ends with Until and with the caller's credentials. Nil: neither ends.
	Lasts context.Context //nolint:containedctx // the stream's lifetime
	// Breaks breaks the connection off if the stream ends before it is over, because its client would take an
	// ordinary end for the end of the answer.
	Breaks bool
	// Abandon is called when the client disconnects before the stream is over. Optional.
	Abandon func()
}

// Close releases the stream and its slot.
func (l *Live) Close() {
	_ = l.events.Close()
	l.Slot.Release()
	if l.Forget != nil {
		l.Forget()
	}
}

// Respond sends the headers before the first event, so that a client knows it is connected,
// and leaves the events to [Writer.Follow], or to [Writer.HandOver] if it could take the connection over.
func (l *Live) Respond(w http.ResponseWriter, r *http.Request) error {
	maps.Copy(w.Header(), sseHeaders)
	if r.Method == http.MethodHead {
		l.Close()
		w.WriteHeader(http.StatusOK)
		return nil
	}
	own := ownWriter(w)
	if events, ok := l.events.(advancing); ok && own.takeover != nil {
		return l.takeOver(r, own, events)
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(l.streams.config.Timeout))
	if err := control.Flush(); errors.Is(err, http.ErrNotSupported) {
		l.Close()
		return call.About(r.Context(), spool.Wrap(spool.Internal, "connection cannot be flushed", err), l.key, "")
	}
	own.live = l
	return nil
}

// ownWriter returns the server's writer, which is inside the writers of rest. Every request has one.
func ownWriter(w http.ResponseWriter) *Writer {
	own, ok := w.(*Writer)
	for !ok {
		above, _ := w.(interface{ Unwrap() http.ResponseWriter }) // there is one
		w = above.Unwrap()
		own, ok = w.(*Writer)
	}
	return own
}

// Follow sends the events of a stream, if one was opened.
//
// It is called after rest is done with the request, because a client's stack lives as long as the client: the
// memory that opening needed is free by then. The rest of the stack must stay below a quarter of 16 KiB, less
// the part that the runtime keeps free, so that the collector can halve it.
func (w *Writer) Follow(r *http.Request) {
	if w.live == nil {
		return
	}
	defer w.live.end(r)
	err := w.live.copyEvents(w.ResponseWriter)
	if w.live.abandoned(r, err) {
		w.live.Abandon()
	}
	w.live.conclude(r.Context(), w.ResponseWriter, err)
	if err != nil && w.live.Breaks {
		panic(http.ErrAbortHandler)
	}
}

// conclude sends what comes after the last event, and logs the error that ended the stream.
func (l *Live) conclude(ctx context.Context, w http.ResponseWriter, err error) {
	switch {
	case l.expired():
		l.streams.Send(w, expired)
	case errors.Is(err, errBroken): // the client resumes
	case spool.CodeOf(err) == spool.NotFound: // the thread was deleted, or now belongs to another caller
	case err != nil && spool.CodeOf(err) != spool.Canceled:
		call.Log(l.streams.config.Log).ErrorContext(ctx, "stream failed", "error", call.About(ctx, err, l.key, ""))
	}
}

// expired is the last line of a stream whose token has expired: a browser that reconnects is refused,
// so that its page gets a new token.
var expired = []byte(": the stream token is over\n\n")

func (l *Live) expired() bool { return !l.Until.IsZero() && !time.Now().Before(l.Until) }

// abandoned reports whether the client has disconnected before the end of a stream that has Abandon: it
// took no more, or closed its connection. A server that shuts down closes connections too.
func (l *Live) abandoned(r *http.Request, err error) bool {
	if l.Abandon == nil || l.streams.config.Draining.Err() != nil {
		return false
	}
	over, ok := l.events.(interface{ Done() bool })
	return ok && !over.Done() && (err == nil || r.Context().Err() != nil)
}

// copyEvents sends each chunk as it comes. It returns the error that ended the stream, or nil if the client
// stopped reading. A client that does not take a chunk within the write timeout is cut off, and reconnects
// with its cursor.
func (l *Live) copyEvents(w http.ResponseWriter) error {
	if native, ok := l.events.(*engine.EventStream); ok {
		// The method is called directly, so that the loop is compiled into this function and needs no memory
		// of its own, which would live as long as the client.
		for chunk, err := range native.Chunks() {
			if err != nil || !l.streams.Send(w, chunk) {
				return err
			}
		}
		return nil
	}
	for chunk, err := range l.events.Chunks() {
		if err != nil || !l.streams.Send(w, chunk) {
			return err
		}
	}
	return nil
}

// Send reports whether the client took the chunk.
func (s *Streams) Send(w http.ResponseWriter, chunk []byte) bool {
	return s.pacer.send(w, chunk, s.config.Timeout) && http.NewResponseController(w).Flush() == nil
}

// end releases the stream. After a panic it cuts the connection, so that the client does not
// take a part for the whole.
func (l *Live) end(r *http.Request) {
	l.Close()
	switch reason := recover(); reason {
	case nil:
	case http.ErrAbortHandler: //nolint:err113 // a panic value is compared as it is, as net/http does
		panic(reason)
	default:
		l.streams.config.Log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "path", r.URL.Path,
			"panic", reason, "stack", string(debug.Stack()))
		panic(http.ErrAbortHandler)
	}
}

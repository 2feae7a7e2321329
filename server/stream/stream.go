// Package stream opens the event streams of threads, in both formats, and sends them to clients: each
// within its time, few large writes at once, and no more streams of a principal than it may have. It
// knows the engine, agui and the call, and not the server.
package stream

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/internal/call"
)

// Config says how streams are sent. All fields are required but Limit.
type Config struct {
	Engine *engine.Engine
	Log    *slog.Logger
	// Timeout is how long a client may take to accept one write.
	Timeout time.Duration
	// Limit bounds the streams that a principal has open. Zero: no bound.
	Limit int
	// Draining ends when the server shuts down.
	Draining context.Context //nolint:containedctx // the lifetime of the server
}

// Streams are the open streams of a server. It is safe for concurrent use.
type Streams struct {
	config Config
	pacer  pacer
	open   openStreams
}

// New returns streams, of which none is open.
func New(c Config) *Streams { return &Streams{config: c, pacer: newPacer()} }

// Write reports whether the client took all of the text, a piece at a time.
func (s *Streams) Write(w http.ResponseWriter, text []byte) bool {
	return s.pacer.send(w, text, s.config.Timeout)
}

// Open opens a stream that lasts as long as ctx does.
func (s *Streams) Open(ctx context.Context, key spool.ThreadKey, o engine.SSEOptions) (*Live, error) {
	// A fall-back for runs that the sweeper has not seen yet. The stream does not need it.
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
func (s *Streams) source(ctx context.Context, key spool.ThreadKey, o engine.SSEOptions) (eventSource, error) {
	if o.WireFormat != wireFormatAGUI {
		stream, err := s.config.Engine.SSE(ctx, key, o)
		if err != nil {
			return nil, err
		}
		stream.Header = nil // sseHeaders are there once for all
		return stream, nil
	}
	var have *spool.Cursor
	if c, ok := spool.ParseCursor(o.Cursor); ok {
		have = &c
	} else if o.Since != nil {
		have = &spool.Cursor{Seq: *o.Since}
	}
	opened, err := s.openAGUI(ctx, key, o.CreatedAt, agui.Options{}, have)
	if err != nil {
		return nil, err
	}
	opened.aliveEvent = o.KeepaliveEvent
	return opened, nil
}

// sseHeaders are shared by all streams, as long as those are there. Nobody changes them.
var sseHeaders = engine.SSEHeaders()

// Live is an open stream.
type Live struct {
	streams *Streams
	events  eventSource
	key     spool.ThreadKey
	// Place is the stream's place among those of its principal.
	Place *Place
	// Until is when the stream ends though it is not over. Zero: never.
	Until time.Time
	// Forget releases what ends the stream then. Nil: there is nothing to release.
	Forget context.CancelFunc
	// Abandon is called when the client disconnects before the stream is over. Optional.
	Abandon func()
}

// Close releases the stream and its place.
func (l *Live) Close() {
	_ = l.events.Close()
	l.Place.Release()
	if l.Forget != nil {
		l.Forget()
	}
}

// Respond sends the headers before the first event, so that a client knows it is connected,
// and leaves the events to [Writer.Follow].
func (l *Live) Respond(w http.ResponseWriter, r *http.Request) error {
	maps.Copy(w.Header(), sseHeaders)
	if r.Method == http.MethodHead {
		l.Close()
		w.WriteHeader(http.StatusOK)
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(l.streams.config.Timeout))
	if err := control.Flush(); errors.Is(err, http.ErrNotSupported) {
		l.Close()
		return call.About(r.Context(), spool.Wrap(spool.Internal, "connection cannot be flushed", err), l.key, "")
	}
	ownWriter(w).live = l
	return nil
}

// ownWriter finds the server's writer, below those that rest has put on it. All requests come by it.
func ownWriter(w http.ResponseWriter) *Writer {
	own, ok := w.(*Writer)
	for !ok {
		above, _ := w.(interface{ Unwrap() http.ResponseWriter }) // there is one
		w = above.Unwrap()
		own, ok = w.(*Writer)
	}
	return own
}

// Follow sends the events of a stream that was opened, if one was.
//
// It is called when rest is done with the request, because a client's stack is there for as
// long as the client is: what opening needs of it is gone by then. What is left has to stay
// below a quarter of 16 KiB, less what the runtime keeps free, for the collector to halve it.
func (w *Writer) Follow(r *http.Request) {
	if w.live == nil {
		return
	}
	defer w.live.end(r)
	err := w.live.copyEvents(w.ResponseWriter)
	if w.live.abandoned(r, err) {
		w.live.Abandon()
	}
	switch {
	case w.live.expired():
		w.live.streams.Send(w.ResponseWriter, expired)
	case spool.CodeOf(err) == spool.NotFound: // the thread was deleted, or is somebody else's now
	case err != nil && spool.CodeOf(err) != spool.Canceled:
		call.Log(w.live.streams.config.Log).ErrorContext(r.Context(), "stream failed", "error", call.About(r.Context(), err, w.live.key, ""))
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

// copyEvents sends each chunk as it comes, and returns why there are no more unless the
// client does not take them. One that does not within the write timeout is cut off, and
// comes back with its cursor.
func (l *Live) copyEvents(w http.ResponseWriter) error {
	if native, ok := l.events.(*engine.EventStream); ok {
		// Named, so that the loop is part of this function and takes no memory of its own: it
		// is there for as long as the client is.
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
	if reason := recover(); reason != nil {
		l.streams.config.Log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "path", r.URL.Path,
			"panic", reason, "stack", string(debug.Stack()))
		panic(http.ErrAbortHandler)
	}
}

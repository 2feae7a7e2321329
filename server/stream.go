package server

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/wire"
)

// streamInput asks for the live stream of a thread.
type streamInput struct {
	call.OneThread
	call.LastMessage

	Cursor      string `doc:"Where to go on: the id of the last frame that you have read. A malformed one counts as absent."                                                                         example:"1 r1:1 1-5"   query:"cursor"`
	LastEventID string `doc:"What a browser sends of itself when it comes back: the id of the last frame. It beats cursor."                                                                          header:"Last-Event-Id"`
	Since       string `doc:"The seq of the last entry that you have, for older clients. It only counts without a cursor."                                                                           example:"3"            query:"since"`
	Keepalive   string `doc:"What an idle stream is kept alive with: comments, or events of the type keepalive, which have no id and an empty object as data, and which a script in a browser sees." default:"comment"      enum:"comment,event" query:"keepalive"`
	WireFormat  string `doc:"Leave it out for the frames described here. With ag-ui there are the events of AG-UI 1.0."                                                                              query:"wireFormat"`
}

// stream answers GET /api/agent/stream with the live stream of a thread, until the
// client goes, the thread is deleted or the engine closes.
func (c follow) stream(ctx context.Context, in streamInput) (streamAnswer, error) {
	r, key := rest.RequestOf(ctx), in.Key(ctx)
	place, err := c.takeStream(r, call.By(ctx))
	if err != nil {
		return streamAnswer{}, call.About(ctx, err, key, "")
	}
	opener, err := c.opener(ctx, r)
	if err != nil {
		place.release()
		return streamAnswer{}, err
	}
	until := opener.Ends
	if !until.IsZero() {
		rest.ResponseOf(ctx).Header().Set("Referrer-Policy", "no-referrer")
	}
	lasts, forget := access.Lifetime(call.ActingAs(r.Context(), call.By(ctx)), call.By(ctx), until)
	options := in.options()
	options.CreatedAt = opener.Made
	opened, err := c.open(lasts, key, options) //nolint:contextcheck // see above
	if err != nil {
		place.release()
		forget()
		return streamAnswer{}, err
	}
	opened.place, opened.until, opened.forget = place, until, forget
	return streamAnswer{live: opened}, nil
}

// opener returns who opens a stream, which ends when the credentials do. A server that asks
// nobody has not looked at the token yet, and it may well be wrong.
func (s *Server) opener(ctx context.Context, r *http.Request) (*call.Caller, error) {
	if s.everybody == nil {
		who, _ := rest.PrincipalAs[*call.Caller](ctx) // a guarded route has one
		return who, nil
	}
	who, err := tokenGate{s}.Authenticate(r)
	if errors.Is(err, rest.ErrNoCredentials) {
		return &call.Caller{}, nil
	}
	if err != nil {
		return nil, err
	}
	known, _ := who.(*call.Caller)
	return known, nil
}

// open opens a stream that lasts as long as ctx does.
func (s *Server) open(ctx context.Context, key spool.ThreadKey, o engine.SSEOptions) (*live, error) {
	// A fall-back for runs that the sweeper has not seen yet. The stream does not need it.
	if _, err := s.engine.ReclaimIfOrphaned(ctx, key); err != nil && spool.CodeOf(err) == spool.Internal {
		call.Log(s.log).WarnContext(ctx, "reclaim failed", "error", call.About(ctx, err, key, ""))
	}
	events, err := s.source(ctx, key, o)
	if err != nil {
		return nil, call.About(ctx, err, key, "")
	}
	return &live{server: s, events: events, key: key}, nil
}

// source opens a stream in the format that was asked for.
func (s *Server) source(ctx context.Context, key spool.ThreadKey, o engine.SSEOptions) (eventSource, error) {
	if o.WireFormat != wireFormatAGUI {
		stream, err := s.engine.SSE(ctx, key, o)
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
	opened, err := s.aguiOpen(ctx, key, o.CreatedAt, agui.Options{}, have)
	if err != nil {
		return nil, err
	}
	opened.aliveEvent = o.KeepaliveEvent
	return opened, nil
}

// sseHeaders are shared by all streams, as long as those are there. Nobody changes them.
var sseHeaders = engine.SSEHeaders()

// streamAnswer is the stream of a thread. The events that it embeds are for the document
// alone: they are encoded already, by the engine once for all clients.
type streamAnswer struct {
	rest.Events[rest.OneOf[wire.Frame]]

	live *live
}

// Respond implements [rest.Responder].
func (a streamAnswer) Respond(w http.ResponseWriter, r *http.Request) error {
	return a.live.Respond(w, r)
}

// live is an open stream.
type live struct {
	server *Server
	events eventSource
	key    spool.ThreadKey
	// place is among the streams of who has opened this one.
	place *streamPlace
	// until is when the stream ends though it is not over. Zero: never.
	until time.Time
	// forget lets go of what ends it then. Nil: nothing does.
	forget context.CancelFunc
	// abandon is called when the client goes before the stream is over. Nil: nothing is.
	abandon func()
}

// close lets go of the events.
func (l *live) close() {
	_ = l.events.Close()
	l.place.release()
	if l.forget != nil {
		l.forget()
	}
}

// Respond sends the headers before the first event, so that a client knows it is connected,
// and leaves the events to [answerWriter.follow].
func (l *live) Respond(w http.ResponseWriter, r *http.Request) error {
	maps.Copy(w.Header(), sseHeaders)
	if r.Method == http.MethodHead {
		l.close()
		w.WriteHeader(http.StatusOK)
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(l.server.config.WriteTimeout))
	if err := control.Flush(); errors.Is(err, http.ErrNotSupported) {
		l.close()
		return call.About(r.Context(), spool.Wrap(spool.Internal, "connection cannot be flushed", err), l.key, "")
	}
	ownWriter(w).live = l
	return nil
}

// ownWriter finds the server's writer, below those that rest has put on it.
func ownWriter(w http.ResponseWriter) *answerWriter {
	own, ok := w.(*answerWriter)
	for !ok {
		above, _ := w.(interface{ Unwrap() http.ResponseWriter }) // all requests come by Server.front
		w = above.Unwrap()
		own, ok = w.(*answerWriter)
	}
	return own
}

// follow sends the events of a stream that was opened, if one was.
//
// It is called when rest is done with the request, because a client's stack is there for as
// long as the client is: what opening needs of it is gone by then. What is left has to stay
// below a quarter of 16 KiB, less what the runtime keeps free, for the collector to halve it.
func (w *answerWriter) follow(r *http.Request) {
	if w.live == nil {
		return
	}
	defer w.live.end(r)
	err := w.live.copyEvents(w.ResponseWriter)
	if w.live.abandoned(r, err) {
		w.live.abandon()
	}
	switch {
	case w.live.expired():
		w.live.server.send(w.ResponseWriter, expired)
	case spool.CodeOf(err) == spool.NotFound: // the thread was deleted, or is somebody else's now
	case err != nil && spool.CodeOf(err) != spool.Canceled:
		call.Log(w.live.server.log).ErrorContext(r.Context(), "stream failed", "error", call.About(r.Context(), err, w.live.key, ""))
	}
}

// expired is the last that is said on a stream whose token is over: a browser that comes back
// is refused, so that its page gets a new token.
var expired = []byte(": the stream token is over\n\n")

func (l *live) expired() bool { return !l.until.IsZero() && !time.Now().Before(l.until) }

// abandoned reports whether somebody has asked for what is to happen when the client goes, and it
// has gone: it took no more, or closed its connection. A server that shuts down closes them too.
func (l *live) abandoned(r *http.Request, err error) bool {
	if l.abandon == nil || l.server.isDraining() {
		return false
	}
	over, ok := l.events.(interface{ Done() bool })
	return ok && !over.Done() && (err == nil || r.Context().Err() != nil)
}

// copyEvents sends each chunk as it comes, and returns why there are no more unless the
// client does not take them. One that does not within the write timeout is cut off, and
// comes back with its cursor.
func (l *live) copyEvents(w http.ResponseWriter) error {
	if native, ok := l.events.(*engine.EventStream); ok {
		// Named, so that the loop is part of this function and takes no memory of its own: it
		// is there for as long as the client is.
		for chunk, err := range native.Chunks() {
			if err != nil || !l.server.send(w, chunk) {
				return err
			}
		}
		return nil
	}
	for chunk, err := range l.events.Chunks() {
		if err != nil || !l.server.send(w, chunk) {
			return err
		}
	}
	return nil
}

// send reports whether the client took the chunk.
func (s *Server) send(w http.ResponseWriter, chunk []byte) bool {
	return s.pacer.send(w, chunk, s.config.WriteTimeout) && http.NewResponseController(w).Flush() == nil
}

// end lets go of the stream. After a panic it cuts the connection, so that the client does
// not take a part for the whole.
func (l *live) end(r *http.Request) {
	l.close()
	if reason := recover(); reason != nil {
		l.server.log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "path", r.URL.Path,
			"panic", reason, "stack", string(debug.Stack()))
		panic(http.ErrAbortHandler)
	}
}

// options says from where to stream: the Last-Event-ID of a browser that comes back beats
// the cursor that its page was opened with, which beats the bare seq of older clients. A
// malformed one counts as absent.
func (in streamInput) options() engine.SSEOptions {
	o := engine.SSEOptions{LastMessageID: in.Last(), WireFormat: in.WireFormat, KeepaliveEvent: in.Keepalive == "event"}
	for _, cursor := range []string{in.LastEventID, in.Cursor} {
		if _, ok := spool.ParseCursor(cursor); ok {
			o.Cursor = cursor
			return o
		}
	}
	if since, err := strconv.ParseInt(in.Since, 10, 64); err == nil && since >= -1 {
		o.Since = &since
	}
	return o
}

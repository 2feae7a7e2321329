package stream

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
)

// takeover is the possibility to take the connection of a request over from net/http.
//
// The context of such a request does not end with the handler, but with the stream. Until the takeover it
// ends when net/http cancels the request too.
type takeover struct {
	ctx    context.Context //nolint:containedctx // the stream's lifetime
	cancel context.CancelFunc
	// detach stops the cancellation by net/http. It returns false if net/http has canceled the request.
	detach func() bool
	// from is net/http's own writer, and around are the writers of middleware around it.
	from   http.Hijacker
	around []Outlived
	// stream is set once the connection is taken over.
	stream *takenOver
}

// Outlived is the [http.ResponseWriter] of a middleware that lets event streams outlive their handlers. Without
// this interface, a writer around net/http's own keeps streams inside their handlers.
type Outlived interface {
	http.ResponseWriter
	Unwrap() http.ResponseWriter
	// Outlive is called before the handler returns, if the stream goes on without it. The answer then does not
	// come through the writer. The stream calls ended at its end, from any goroutine; nil: it calls nothing.
	// The writer, and the request, must not be reachable from ended, because they hold memory of net/http.
	Outlive() (ended func())
}

// Prepare makes a request for a stream ready for a takeover of its connection, if that is possible.
// It returns the request with the context that the stream will have.
func (s *Streams) Prepare(w *Writer, r *http.Request) *http.Request {
	if s.config.NoTakeover || !mayOutlive(r) {
		return r
	}
	own, around := ownerOf(w.ResponseWriter)
	if own == nil {
		return r
	}
	from := r.Context()
	ctx, cancel := context.WithCancel(context.WithoutCancel(from))
	if at, ok := from.Deadline(); ok { // of middleware before the server
		cancel()
		ctx, cancel = context.WithDeadline(context.WithoutCancel(from), at)
	}
	w.takeover = &takeover{ctx: ctx, cancel: cancel, detach: context.AfterFunc(from, cancel), from: own, around: around}
	return r.WithContext(ctx)
}

// mayOutlive reports whether the stream of a request may outlive the handler. That needs a GET request without
// a body, over HTTP/1.1 without TLS. It also needs a server whose connections have no context of the program's,
// because the stream could not see that context end.
func mayOutlive(r *http.Request) bool {
	if r.Method != http.MethodGet || r.ProtoMajor != 1 || r.ProtoMinor < 1 || r.TLS != nil || r.ContentLength != 0 ||
		len(r.TransferEncoding) > 0 {
		return false
	}
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	return ok && server.BaseContext == nil && server.ConnContext == nil
}

// ownerOf returns net/http's own writer, and the writers around it. It returns nil if one of them is not
// [Outlived]: it expects the whole answer to come through.
func ownerOf(w http.ResponseWriter) (own http.Hijacker, around []Outlived) {
	for outer, ok := w.(Outlived); ok; outer, ok = w.(Outlived) {
		around = append(around, outer)
		w = outer.Unwrap()
	}
	kind := reflect.TypeOf(w)
	if kind.Kind() != reflect.Pointer || kind.Elem().PkgPath() != "net/http" || kind.Elem().Name() != "response" {
		return nil, nil
	}
	own, _ = w.(http.Hijacker)
	return own, around
}

// takeOver takes the connection over, and sends the head of the answer. The stream counts as taken over before
// its server lets go of the connection, so that at each moment either of them waits for it at a shutdown.
func (l *Live) takeOver(r *http.Request, own *Writer, events advancing) error {
	head := headOf(own.Header())
	t := &takenOver{
		streams: l.streams, live: l, events: events,
		// the context of r keeps r alive, and all that net/http has for it
		ctx: own.takeover.ctx, cancel: own.takeover.cancel,
	}
	t.state.Store(awake) // what wakes the stream before it starts is seen at its first step
	l.streams.add(t)
	conn, _, err := own.takeover.from.Hijack() // bytes that the client has sent after its request are dropped
	if err != nil {
		l.streams.remove(t)
		l.Close()
		return call.About(r.Context(), spool.Wrap(spool.Internal, "connection cannot be taken over", err), l.key, "")
	}
	l.streams.connect(t, conn)
	own.takeover.detach()
	own.takeover.stream = t
	_ = conn.SetWriteDeadline(time.Now().Add(l.streams.config.Timeout))
	_, err = conn.Write(head)
	t.broken = err != nil // the stream ends at its first step
	t.sent.Store(time.Now().UnixNano())
	return nil
}

// headOf returns the head that net/http would send, with the remark that the connection ends with the answer:
// net/http does not take it back.
func headOf(h http.Header) []byte {
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	_ = h.WriteSubset(&head, notInHead) // a buffer takes all
	if len(h["Date"]) == 0 {
		head.WriteString("Date: " + time.Now().UTC().Format(http.TimeFormat) + "\r\n")
	}
	head.WriteString("Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
	return head.Bytes()
}

// notInHead are headers that describe the connection, which are its server's to say.
var notInHead = map[string]bool{"Connection": true, "Content-Length": true, "Trailer": true, "Transfer-Encoding": true}

// HandOver gives a connection that was taken over to the goroutines of its stream, which call ended when the
// answer has ended. It returns false if no connection was
// taken over. The handler must return soon afterwards, so that net/http releases its memory.
func (w *Writer) HandOver(ended func()) bool {
	if w.takeover == nil || w.takeover.stream == nil {
		return false
	}
	t := w.takeover.stream
	t.ended = append(t.ended, ended)
	for _, outer := range w.takeover.around {
		if f := outer.Outlive(); f != nil {
			t.ended = append(t.ended, f)
		}
	}
	w.takeover = nil
	t.start()
	return true
}

// Drop closes a connection that was taken over and not handed over, after a panic.
func (w *Writer) Drop() {
	if w.takeover == nil || w.takeover.stream == nil {
		return
	}
	t := w.takeover.stream
	t.live.Close()
	t.cancel()
	_ = t.out.conn.Close()
	t.streams.remove(t)
}

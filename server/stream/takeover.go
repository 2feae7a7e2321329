package stream

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
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
	// stream is set once the connection is taken over.
	stream *taken
}

// Prepare makes a request for a stream ready for a takeover of its connection, if mayTakeOver allows
// it. It returns the request with the context that the stream will have.
func (s *Streams) Prepare(w *Writer, r *http.Request) *http.Request {
	if s.config.NoTakeover || !mayTakeOver(w.ResponseWriter, r) {
		return r
	}
	from := r.Context()
	ctx, cancel := context.WithCancel(context.WithoutCancel(from))
	if at, ok := from.Deadline(); ok { // of middleware before the server
		cancel()
		ctx, cancel = context.WithDeadline(context.WithoutCancel(from), at)
	}
	w.takeover = &takeover{ctx: ctx, cancel: cancel, detach: context.AfterFunc(from, cancel)}
	return r.WithContext(ctx)
}

// mayTakeOver reports whether a handler may take the connection of a request over for a stream. That needs a
// GET request without a body, over HTTP/1.1 without TLS, and net/http's own writer: what wraps it expects the
// whole answer to come through. It also needs a server whose connections have no context of the program's,
// because the stream could not see that context end.
func mayTakeOver(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || r.ProtoMajor != 1 || r.ProtoMinor < 1 || r.TLS != nil || r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
		return false
	}
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok || server.BaseContext != nil || server.ConnContext != nil {
		return false
	}
	kind := reflect.TypeOf(w)
	if kind.Kind() != reflect.Pointer || kind.Elem().PkgPath() != "net/http" || kind.Elem().Name() != "response" {
		return false
	}
	_, ok = w.(http.Hijacker)
	return ok
}

// takeOver takes the connection over, and sends the head of the answer.
func (l *Live) takeOver(r *http.Request, own *Writer, events *engine.EventStream) error {
	head := headOf(own.Header())
	hijacker, _ := own.ResponseWriter.(http.Hijacker) // mayTakeOver has checked it
	conn, _, err := hijacker.Hijack()                 // bytes that the client has sent after its request are dropped
	if err != nil {
		l.Close()
		return call.About(r.Context(), spool.Wrap(spool.Internal, "connection cannot be taken over", err), l.key, "")
	}
	own.takeover.detach()
	t := &taken{
		streams: l.streams, live: l, events: events, out: chunked{conn},
		ctx: own.takeover.ctx, cancel: own.takeover.cancel, // the context of r keeps r alive, and all that net/http has for it
	}
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
	t.ended = ended
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
}

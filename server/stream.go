package server

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// streamInput asks for the live stream of a thread.
type streamInput struct {
	oneThread
	lastMessage

	Cursor      string `doc:"Where to go on: the id of the last frame that you have read. A malformed one counts as absent." example:"1 r1:1 1-5"   query:"cursor"`
	LastEventID string `doc:"What a browser sends of itself when it comes back: the id of the last frame. It beats cursor."  header:"Last-Event-Id"`
	Since       string `doc:"The seq of the last entry that you have, for older clients. It only counts without a cursor."   example:"3"            query:"since"`
	WireFormat  string `doc:"Leave it out: no other format than the frames described here is known."                         query:"wireFormat"`
}

// stream answers GET /api/agent/stream with the live stream of a thread, until the
// client goes, the thread is deleted or the engine closes.
//
// Opening is apart from sending because a client's stack is there for as long as the client
// is: what opening needs of it is gone by then.
func (c *follow) stream(ctx context.Context, in streamInput) (live, error) {
	key := in.of(ctx, c.Server)
	// A fall-back for runs that the sweeper has not seen yet. The stream does not need it.
	if _, err := c.engine.ReclaimIfOrphaned(ctx, key); err != nil && spool.CodeOf(err) == spool.Internal {
		c.restLog().WarnContext(ctx, "reclaim failed", "error", about(ctx, err, key, ""))
	}
	events, err := c.engine.SSE(ctx, key, in.options())
	if err != nil {
		return live{}, about(ctx, err, key, "")
	}
	return live{server: c.Server, events: events, key: key}, nil
}

// live is an open stream. The events that it embeds are for the document alone: the engine
// has encoded them, once for all clients.
type live struct {
	rest.Events[frame]

	server *Server
	events *engine.EventStream
	key    spool.ThreadKey
}

// Respond implements [rest.Responder].
func (l live) Respond(w http.ResponseWriter, r *http.Request) error {
	defer l.events.Close()
	maps.Copy(w.Header(), l.events.Header)
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return l.copyEvents(r.Context(), w)
}

// copyEvents sends each chunk as it comes. A client that does not take one within the
// write timeout is cut off, and comes back with its cursor.
func (l live) copyEvents(ctx context.Context, w http.ResponseWriter) error {
	control := http.NewResponseController(w)
	deadline := func() { _ = control.SetWriteDeadline(time.Now().Add(l.server.config.WriteTimeout)) }

	// The headers go out before the first event, so that a client knows it is connected.
	deadline()
	if err := control.Flush(); errors.Is(err, http.ErrNotSupported) {
		return about(ctx, spool.Wrap(spool.Internal, "connection cannot be flushed", err), l.key, "")
	}
	for chunk, err := range l.events.Chunks() {
		if err != nil {
			l.logFailure(ctx, err)
			return nil
		}
		deadline()
		if _, err := w.Write(chunk); err != nil {
			return nil // the client is gone
		}
		if err := control.Flush(); err != nil {
			return nil // the client is gone
		}
	}
	return nil
}

// logFailure tells why a stream has ended, unless its client did it.
func (l live) logFailure(ctx context.Context, err error) {
	if spool.CodeOf(err) != spool.Canceled {
		l.server.restLog().ErrorContext(ctx, "stream failed", "error", about(ctx, err, l.key, ""))
	}
}

// options says from where to stream: the Last-Event-ID of a browser that comes back beats
// the cursor that its page was opened with, which beats the bare seq of older clients. A
// malformed one counts as absent.
func (in streamInput) options() engine.SSEOptions {
	o := engine.SSEOptions{LastMessageID: in.id(), WireFormat: in.WireFormat}
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

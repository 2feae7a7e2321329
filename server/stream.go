package server

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// stream answers GET /api/agent/stream with the live stream of a thread, until the
// client goes, the thread is deleted or the engine closes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, p Principal) error {
	events, key, err := s.openEvents(w.Header(), r, p)
	if err != nil {
		return err
	}
	defer events.Close()

	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return s.copyEvents(w, events, key)
}

// openEvents is apart from stream because a client's stack is there for as long as the
// client is: what opening needs of it is gone by then. What is left has to stay below a
// quarter of 16 KiB, less what the runtime keeps free, for the collector to halve it.
func (s *Server) openEvents(h http.Header, r *http.Request, p Principal) (*engine.EventStream, spool.ThreadKey, error) {
	q, key, err := threadQuery(r, p)
	if err != nil {
		return nil, key, err
	}
	ctx := r.Context()
	// A fall-back for runs that the sweeper has not seen yet. The stream does not need it.
	if _, err := s.engine.ReclaimIfOrphaned(ctx, key); err != nil && spool.CodeOf(err) == spool.Internal {
		s.log.WarnContext(ctx, "reclaim failed", failureAttrs(about(err, key, ""))...)
	}
	events, err := s.engine.SSE(ctx, key, sseOptions(r, q))
	if err != nil {
		return nil, key, about(err, key, "")
	}
	maps.Copy(h, events.Header)
	return events, key, nil
}

// copyEvents sends each chunk as it comes. A client that does not take one within the
// write timeout is cut off, and comes back with its cursor.
func (s *Server) copyEvents(w http.ResponseWriter, events *engine.EventStream, key spool.ThreadKey) error {
	control := http.NewResponseController(w)
	deadline := func() { _ = control.SetWriteDeadline(time.Now().Add(s.config.WriteTimeout)) }

	// The headers go out before the first event, so that a client knows it is connected.
	deadline()
	if err := control.Flush(); errors.Is(err, http.ErrNotSupported) {
		return about(spool.Wrap(spool.Internal, "connection cannot be flushed", err), key, "")
	}
	for chunk, err := range events.Chunks() {
		if err != nil {
			s.logStream(err, key)
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

// logStream tells why a stream has ended, unless its client did it.
func (s *Server) logStream(err error, key spool.ThreadKey) {
	if spool.CodeOf(err) != spool.Canceled {
		s.log.Error("stream failed", failureAttrs(about(err, key, ""))...)
	}
}

// sseOptions says from where to stream: the Last-Event-ID of a browser that comes back
// beats the cursor that its page was opened with, which beats the bare seq of older
// clients. A malformed one counts as absent.
func sseOptions(r *http.Request, q url.Values) engine.SSEOptions {
	o := engine.SSEOptions{LastMessageID: lastMessageID(q), WireFormat: q.Get("wireFormat")}
	for _, cursor := range []string{r.Header.Get("Last-Event-ID"), q.Get("cursor")} {
		if _, ok := spool.ParseCursor(cursor); ok {
			o.Cursor = cursor
			return o
		}
	}
	if since, err := strconv.ParseInt(q.Get("since"), 10, 64); err == nil && since >= -1 {
		o.Since = &since
	}
	return o
}

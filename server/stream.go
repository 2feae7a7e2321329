package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/wire"
	"github.com/spoolhq/spool/server/stream"
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
	place, err := c.streams.Take(r, call.By(ctx))
	if err != nil {
		return streamAnswer{}, call.About(ctx, err, key, "")
	}
	opener, err := c.opener(ctx, r)
	if err != nil {
		place.Release()
		return streamAnswer{}, err
	}
	until := opener.Ends
	if !until.IsZero() {
		rest.ResponseOf(ctx).Header().Set("Referrer-Policy", "no-referrer")
	}
	lasts, forget := access.Lifetime(call.ActingAs(r.Context(), call.By(ctx)), call.By(ctx), until)
	options := in.options()
	options.CreatedAt = opener.Made
	opened, err := c.streams.Open(lasts, key, options) //nolint:contextcheck // see above
	if err != nil {
		place.Release()
		forget()
		return streamAnswer{}, err
	}
	opened.Place, opened.Until, opened.Forget = place, until, forget
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

// streamAnswer is the stream of a thread. The events that it embeds are for the document
// alone: they are encoded already, by the engine once for all clients.
type streamAnswer struct {
	rest.Events[rest.OneOf[wire.Frame]]

	live *stream.Live
}

// Respond implements [rest.Responder].
func (a streamAnswer) Respond(w http.ResponseWriter, r *http.Request) error {
	return a.live.Respond(w, r)
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

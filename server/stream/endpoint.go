package stream

import (
	"context"
	"net/http"
	"strconv"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/bodies"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// Controller has the endpoints. All fields are required.
type Controller struct {
	Engine  *engine.Engine
	Streams *Streams
	Auth    *auth.Auth
}

// Input asks for the live stream of a thread.
type Input struct {
	call.OneThread
	call.LastMessage

	// Cursor is the id of the last frame that you have read. A malformed one counts as absent.
	Cursor string `example:"1 r1:1 1-5" query:"cursor"`
	// LastEventID is the id of the last frame, which a browser sends by itself on a reconnect. It takes precedence
	// over cursor.
	LastEventID string `header:"Last-Event-Id"`
	// Since is the seq of the last entry that you have, for older clients. It only counts without a cursor.
	Since string `example:"3" query:"since"`
	// Keepalive is how an idle stream is kept alive: by comments, or by events of the type keepalive, which scripts
	// in a browser can see. Such an event has no id, and an empty object as data.
	Keepalive  string `default:"comment"  enum:"comment,event" query:"keepalive"`
	WireFormat string `query:"wireFormat"` // Left out: the frames described here. ag-ui: the events of AG-UI 1.0.
}

// Stream answers with server-sent events, one frame each, until the client disconnects, the thread is deleted or the
// server shuts down. Without a cursor, the stream begins at the start of the record. The id of a frame is the cursor
// after it: a client that reconnects with the last id misses nothing and reads nothing twice. One snapshot frame
// replaces frames that are gone by then.
func (c Controller) Stream(ctx context.Context, in Input) (Answer, error) {
	r, key := rest.RequestOf(ctx), in.Key(ctx)
	slot, err := c.Streams.Take(r, call.By(ctx))
	if err != nil {
		return Answer{}, call.About(ctx, err, key, "")
	}
	opener, err := c.Auth.Opener(ctx)
	if err != nil {
		slot.Release()
		return Answer{}, err
	}
	until := opener.Ends
	if !until.IsZero() {
		rest.ResponseOf(ctx).Header().Set("Referrer-Policy", "no-referrer")
	}
	lasts, forget := access.Lifetime(call.ActingAs(r.Context(), call.By(ctx)), call.By(ctx), until)
	options := in.options()
	options.CreatedAt = opener.CreatedAt
	opened, err := c.Streams.Open(lasts, key, options) //nolint:contextcheck // see above
	if err != nil {
		slot.Release()
		forget()
		return Answer{}, err
	}
	opened.Slot, opened.Until, opened.Forget = slot, until, forget
	if !until.IsZero() || call.By(ctx).Valid != nil {
		opened.Lasts = lasts
	}
	return Answer{live: opened}, nil
}

// Answer is the stream of a thread. It embeds the events only for the document: the engine has encoded them
// once for all clients.
type Answer struct {
	rest.Events[rest.OneOf[bodies.Frame]]

	live *Live
}

// Respond implements [rest.Responder].
func (a Answer) Respond(w http.ResponseWriter, r *http.Request) error {
	return a.live.Respond(w, r)
}

// options returns where the stream starts. The Last-Event-ID of a browser that reconnects takes precedence
// over the cursor in the URL, and that over the bare seq of older clients. A malformed value counts as
// absent.
func (in Input) options() wire.SSEOptions {
	o := wire.SSEOptions{LastMessageID: in.Last(), WireFormat: in.WireFormat, KeepaliveEvent: in.Keepalive == "event"}
	for _, cursor := range []string{in.LastEventID, in.Cursor} {
		if _, ok := wire.ParseCursor(cursor); ok {
			o.Cursor = cursor
			return o
		}
	}
	if since, err := strconv.ParseInt(in.Since, 10, 64); err == nil && since >= -1 {
		o.Since = &since
	}
	return o
}

package threads

import (
	"context"

	"github.com/spoolhq/spool/server/internal/bodies"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// EventsInput asks for a page of a thread's events.
type EventsInput struct {
	call.OneThread

	// Only events after this seq: the field next of the page before.
	After int64 `minimum:"0"    query:"after"`
	Limit int   `maximum:"1000" minimum:"1"   query:"limit"` // The size of a page. Left out: 100.
}

// EventPage is a page of an application's durable events.
type EventPage struct {
	Events []bodies.ApplicationEvent `json:"events"` // The events, in the order of their seq.
	// Next is the value of after for the next page. It is present even if this page has few events. Left out: this
	// is the last page.
	Next int64 `json:"next,omitempty"`
}

// Events answers with the durable events that were published on a thread, by seq, one page at a time. The snapshot and
// the stream also have them, among all entries of the record.
func (c Controller) Events(ctx context.Context, in EventsInput) (EventPage, error) {
	key := in.Key(ctx)
	page, err := c.Engine.Events(call.Acting(ctx), key, wire.EventQuery{After: in.After, Limit: in.Limit})
	out := EventPage{Events: make([]bodies.ApplicationEvent, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		out.Events[i] = bodies.ApplicationEvent(e)
	}
	return out, call.About(ctx, err, key, "")
}

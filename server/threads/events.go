package threads

import (
	"context"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/wire"
)

// EventsInput asks for a page of a thread's events.
type EventsInput struct {
	call.OneThread

	After int64 `doc:"Only events behind this seq: the next of the page before." minimum:"0"    query:"after"`
	Limit int   `doc:"The size of a page. Left out: 100."                        maximum:"1000" minimum:"1"   query:"limit"`
}

// EventPage is a page of an application's durable events.
type EventPage struct {
	Events []wire.ApplicationEvent `doc:"The events, in the order of their seq."                                                                        json:"events"`
	Next   int64                   `doc:"What after has to be for the next page, which may have events although this has few. Left out: there is none." json:"next,omitempty"`
}

// Events answers GET /api/agent/events with the durable events that were published on a thread.
func (c Controller) Events(ctx context.Context, in EventsInput) (EventPage, error) {
	key := in.Key(ctx)
	page, err := c.Engine.Events(call.Acting(ctx), key, engine.EventQuery{After: in.After, Limit: in.Limit})
	out := EventPage{Events: make([]wire.ApplicationEvent, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		out.Events[i] = wire.ApplicationEvent(e)
	}
	return out, call.About(ctx, err, key, "")
}

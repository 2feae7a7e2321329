package server

import (
	"context"

	"github.com/spoolhq/spool/engine"
)

// eventsInput asks for a page of a thread's events.
type eventsInput struct {
	oneThread

	After int64 `doc:"Only events behind this seq: the next of the page before." minimum:"0"    query:"after"`
	Limit int   `doc:"The size of a page. Left out: 100."                        maximum:"1000" minimum:"1"   query:"limit"`
}

// events answers GET /api/agent/events with the durable events that were published on a thread.
func (c *follow) events(ctx context.Context, in eventsInput) (engine.EventPage, error) {
	key := in.of(ctx, c.Server)
	page, err := c.engine.Events(c.acting(ctx), key, engine.EventQuery{After: in.After, Limit: in.Limit})
	return page, about(ctx, err, key, "")
}

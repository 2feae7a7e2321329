package client

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

const eventsPath = "/api/agent/events"

// Publish sends an event of the application to the clients that follow a thread: see [spool.NewEvent]. It
// returns the seq of a durable event in the thread's record, and 0 for a live event. It returns a
// [spool.NotFound] error for a thread that does not exist.
func (c *Client) Publish(ctx context.Context, thread spool.ThreadID, e spool.Event) (seq int64, err error) {
	result, err := do[struct {
		Seq int64 `json:"seq"`
	}](ctx, c, post(eventsPath, struct {
		ThreadID spool.ThreadID  `json:"threadId"`
		Type     string          `json:"type"`
		Payload  json.RawMessage `json:"payload,omitempty"`
		Durable  bool            `json:"durable,omitempty"`
	}{thread, e.Type, e.Payload, e.Durable}))
	return result.Seq, err
}

// Events lists the durable events of the application on a thread with a seq above after, in order. An error
// ends the list.
func (c *Client) Events(ctx context.Context, thread spool.ThreadID, after int64) iter.Seq2[wire.Entry, error] {
	first := number(after)
	return pages(func(page string) ([]wire.Entry, string, error) {
		if page == "" {
			page = first
		}
		list, err := do[wire.EventPage](ctx, c, get(eventsPath, "threadId", string(thread), "after", page))
		return list.Events, number(list.Next), err
	})
}

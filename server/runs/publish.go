package runs

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// PublishRequest is the body of an event.
type PublishRequest struct {
	ThreadID spool.ThreadID  `doc:"The thread, which has to exist."                                                                                     example:"t1"             json:"threadId"`
	Type     string          `doc:"Your own word for the event. The types of record entries, notices and items are refused."                            example:"progress"       json:"type"              maxLength:"128" minLength:"1" pattern:"^[A-Za-z0-9._:-]+$"`
	Payload  json.RawMessage `doc:"Any JSON: up to 6144 bytes, or 65536 of a durable event. Left out: null."                                            json:"payload,omitempty"`
	Durable  bool            `doc:"True: the event is an entry of the record, which later clients get too. False: only clients that follow now get it." example:"true"           json:"durable,omitempty"`
}

// PublishResult is the answer to an event.
type PublishResult struct {
	Accepted bool  `doc:"Always true."                                             json:"accepted"`
	Seq      int64 `doc:"The entry's seq in the record. Only for a durable event." example:"7"     json:"seq,omitempty"`
}

// Validate implements [rest.Validator].
func (in *PublishRequest) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	return spool.CheckEventType(in.Type)
}

// Publish answers POST /api/agent/events: 202 for a live event, 200 with its seq for a durable event, which
// is then in the record.
func (c Controller) Publish(ctx context.Context, in PublishRequest) (PublishResult, error) {
	who := call.By(ctx)
	key := who.Key(in.ThreadID)
	call.Concerns(ctx, key, "")
	if in.Durable {
		if err := c.Events.Take(who, in.Payload); err != nil {
			return PublishResult{}, call.About(ctx, err, key, "")
		}
	}
	entry, err := c.Engine.PublishEvent(call.Acting(ctx), key, in.Type, in.Payload, wire.PublishOptions{Durable: in.Durable, By: who.Subject})
	if err != nil {
		return PublishResult{}, call.About(ctx, err, key, "")
	}
	if in.Durable {
		rest.ResponseOf(ctx).SetStatus(http.StatusOK)
	}
	return PublishResult{Accepted: true, Seq: entry.Seq}, nil
}

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
	// ThreadID is the thread, which has to exist.
	ThreadID spool.ThreadID `example:"t1" json:"threadId"`
	// Your own word for the event. The types of record entries, notices and items are refused.
	Type string `example:"progress" json:"type" maxLength:"128" minLength:"1" pattern:"^[A-Za-z0-9._:-]+$"`
	// Payload is any JSON: up to 6144 bytes, or 65536 of a durable event. Left out: null.
	Payload json.RawMessage `json:"payload,omitempty"`
	// True: the event is an entry of the record, which later clients get too. False: only clients that follow now
	// get it.
	Durable bool `example:"true" json:"durable,omitempty"`
}

// PublishResult is the answer to an event.
type PublishResult struct {
	Accepted bool  `json:"accepted"`                      // Always true.
	Seq      int64 `example:"7"     json:"seq,omitempty"` // The entry's seq in the record. Only for a durable event.
}

// Validate implements [rest.Validator].
func (in *PublishRequest) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	return spool.CheckEventType(in.Type)
}

// Publish publishes an event of your own to clients that follow a thread. A live event reaches only the clients that
// follow now, as an item of type CUSTOM or as a notice, and it may get lost. A durable event is in the record when the
// answer comes. An event starts nothing: no agent reads it.
func (c Controller) Publish(ctx context.Context, in PublishRequest) (PublishResult, error) {
	who := call.By(ctx)
	key := who.Key(in.ThreadID)
	call.Concerns(ctx, key, "")
	if in.Durable {
		if err := c.Events.Take(who, in.Payload); err != nil {
			return PublishResult{}, call.About(ctx, err, key, "")
		}
	}
	entry, err := c.Engine.PublishEvent(call.Acting(ctx), key, in.Type, in.Payload,
		wire.PublishOptions{Durable: in.Durable, By: who.Subject})
	if err != nil {
		return PublishResult{}, call.About(ctx, err, key, "")
	}
	if in.Durable {
		rest.ResponseOf(ctx).SetStatus(http.StatusOK)
	}
	return PublishResult{Accepted: true, Seq: entry.Seq}, nil
}

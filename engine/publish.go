package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// PublishEvent sends an event of the application to the followers of a thread. It returns the event as
// they see it. An event that is not durable has seq 0.
//
// A live event is an item of type CUSTOM if this process executes the event's run, and a notice
// otherwise. A live event may get lost, and clients that come later do not get it. A durable event is
// an entry of the record and nothing else. It is written when PublishEvent returns.
//
// PublishEvent returns an [spool.Invalid] error that names type or payload, as [spool.NewEvent] does,
// or runId if the thread has no such run. It returns a [spool.NotFound] error for a thread that does
// not exist, and a [spool.Conflict] error for a run that has ended. If it returns an error, nothing is
// published.
func (e *Engine) PublishEvent(
	ctx context.Context, key spool.ThreadKey, t string, payload any, o wire.PublishOptions,
) (wire.Entry, error) {
	event, err := spool.NewEvent(t, payload, o.Durable)
	if err == nil && o.RunID != "" {
		err = spool.CheckID("runId", string(o.RunID))
	}
	if err != nil {
		return wire.Entry{}, err
	}
	if event.Durable {
		if err := e.runner.CheckRoom(ctx, key.Tenant); err != nil {
			return wire.Entry{}, err
		}
	}
	return e.publisher.Publish(ctx, key, event, o.RunID, o.By)
}

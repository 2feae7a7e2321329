package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// PublishEvent tells those who follow the thread something of the application's own. It
// returns the event as they see it, with seq 0 where it is not durable.
//
// A live event is an item of type CUSTOM where this process carries the run that it is
// about, and a notice anywhere else. It may get lost, and reaches nobody who comes later. A
// durable one is an entry of the record, written when PublishEvent returns, and nothing
// besides.
//
// It returns an [spool.Invalid] error that names type or payload as [spool.NewEvent] does,
// or runId where the thread has no such run, a [spool.NotFound] error for a thread that does
// not exist, and a [spool.Conflict] error for a run that has ended. Nothing is published
// then.
func (e *Engine) PublishEvent(
	ctx context.Context, key spool.ThreadKey, t spool.EntryType, payload any, o PublishOptions,
) (spool.Entry, error) {
	event, err := spool.NewEvent(t, payload, o.Durable)
	if err == nil && o.RunID != "" {
		err = spool.CheckID("runId", string(o.RunID))
	}
	if err != nil {
		return spool.Entry{}, err
	}
	if event.Durable {
		if err := e.runner.CheckRoom(ctx, key.Tenant); err != nil {
			return spool.Entry{}, err
		}
	}
	return e.publisher.Publish(ctx, key, event, o.RunID, o.By)
}

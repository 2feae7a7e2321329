package worker

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// queuesOf returns the queues that a worker claims from: those for tickets, and those of its handlers. It
// returns an [spool.Invalid] error for invalid names.
func queuesOf(o slots.Options) ([]string, error) {
	tickets := o.Queues
	if len(tickets) == 0 {
		tickets = []string{""}
	}
	for _, name := range tickets {
		if name == "" {
			continue
		}
		if err := spool.CheckID("WorkOptions.Queues", name); err != nil {
			return nil, err
		}
	}
	events := slices.Sorted(maps.Keys(o.Events))
	for _, name := range events {
		switch err := spool.CheckID("WorkOptions.Events: the name of a queue", name); {
		case err != nil:
			return nil, err
		case o.Events[name] == nil:
			return nil, spool.Errorf(spool.Invalid, "WorkOptions.Events has no handler for the queue %q", name)
		case slices.Contains(tickets, name):
			return nil, spool.Errorf(spool.Invalid, "WorkOptions.Queues and WorkOptions.Events both have the queue %q", name)
		}
	}
	return slices.Concat(tickets, events), nil
}

// handleEvent calls the handler of an event. It turns a panic into an error.
func (w *worker) handleEvent(
	ctx context.Context, d store.Delivery, handler func(ctx context.Context, event store.Delivery) error,
) (result wire.JobResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &spool.Error{
				Code: spool.Internal, Message: "the handler of the event panicked",
				Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	return wire.JobResult{Accepted: true}, handler(ctx, d)
}

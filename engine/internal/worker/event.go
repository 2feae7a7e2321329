package worker

import (
	"context"
	"errors"
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
// returns an [spool.Invalid] error for names that check refuses, and for options that exclude each other.
func queuesOf(o slots.Options, check func(field, name string) error) ([]string, error) {
	tickets := o.Queues
	switch {
	case o.EventsOnly && len(tickets) > 0:
		return nil, spool.Errorf(spool.Invalid, "WorkOptions.EventsOnly excludes WorkOptions.Queues")
	case o.EventsOnly && o.Deliver != nil:
		return nil, spool.Errorf(spool.Invalid, "WorkOptions.EventsOnly excludes WorkOptions.Deliver")
	case o.EventsOnly && len(o.Events) == 0:
		return nil, spool.Errorf(spool.Invalid, "WorkOptions.EventsOnly needs a handler in WorkOptions.Events")
	case !o.EventsOnly && len(tickets) == 0:
		tickets = []string{""}
	}
	for _, name := range tickets {
		if name == "" {
			continue
		}
		if err := check("WorkOptions.Queues", name); err != nil {
			return nil, err
		}
	}
	events := slices.Sorted(maps.Keys(o.Events))
	for _, name := range events {
		switch err := check("WorkOptions.Events: the name of a queue", name); {
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

// decided returns the acknowledgement with which the handler of an event has returned, if it has.
func (w *worker) decided(d store.Delivery, err error) (ack store.Ack, ok bool) {
	by, ok := errors.AsType[*store.AckError](err)
	if !ok || by == nil || !d.Event() {
		return store.Ack{}, false
	}
	switch ack = by.Ack; ack.Kind {
	case store.AckDone, store.AckDead:
	case store.AckRelease:
		ack.After = max(ack.After, 0)
		ack.Refund = ack.Refund || d.Attempt >= w.options.MaxDeliveries // one more would make it dead
	default:
		return store.Ack{}, false
	}
	return ack, true
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

package engine

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/stream"
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
	s, by := e.carried.find(key), record.Publisher{Subject: o.By}
	if !event.Durable {
		return e.tell(ctx, key, s, event, o.RunID, by)
	}
	if err := e.checkRoom(ctx, key.Tenant); err != nil {
		return spool.Entry{}, err
	}
	if s != nil {
		entry, err := s.record(ctx, event, o.RunID, by)
		if spool.CodeOf(err) != spool.Fenced { // else another worker has the run by now
			return entry, err
		}
	}
	return e.record(ctx, key, event, o.RunID, by)
}

// publish is [Engine.PublishEvent] for a tool of the segment.
func (s *segment) publish(ctx context.Context, event spool.Event, run spool.RunID, tool string) error {
	by := record.Publisher{Tool: tool}
	if event.Durable {
		_, err := s.record(ctx, event, run, by)
		return err
	}
	entry := spool.Entry{ThreadID: s.key.ID, Type: event.Type, Payload: event.Payload, CreatedAt: time.Now().UTC(), RunID: run}
	by.Sign(&entry)
	if !s.writer.Event(ctx, entry) {
		stream.Notify(s.e.bus, s.key, entry)
	}
	return nil
}

// tell publishes a live event.
func (e *Engine) tell(ctx context.Context, key spool.ThreadKey, s *segment, event spool.Event, about spool.RunID, by record.Publisher) (spool.Entry, error) {
	entry := spool.Entry{ThreadID: key.ID, Type: event.Type, Payload: event.Payload}
	by.Sign(&entry)
	err := e.store.View(ctx, key, func(v spool.View) error {
		run, _, err := subject(v, about)
		entry.RunID, entry.CreatedAt = run.ID, v.Now()
		return err
	})
	if err != nil {
		return spool.Entry{}, record.NotFound(err)
	}
	if s == nil || s.id != entry.RunID || !s.writer.Event(ctx, entry) {
		stream.Notify(e.bus, key, entry)
	}
	return entry, nil
}

// subject returns the run that an event is about, with the thread. The zero run is none.
func subject(v spool.View, about spool.RunID) (run spool.Run, thread spool.Thread, err error) {
	if thread, err = v.Thread(); err != nil {
		return run, thread, err
	}
	if about == "" {
		if !thread.State.Active() {
			return run, thread, nil
		}
		about = thread.RunID
	}
	run, err = v.Run(about)
	switch {
	case record.Missing(err):
		return run, thread, &spool.Error{Code: spool.Invalid, Message: "runId is not a run of the thread", Err: err}
	case err == nil && run.State.Terminal():
		return run, thread, spool.Errorf(spool.Conflict, "runId is a run that has ended")
	default:
		return run, thread, err
	}
}

// record writes a durable event from outside of the thread's segment, of whose stream
// nothing is known. If there is one, its worker is told, so that its next items stand behind
// the entry.
func (e *Engine) record(ctx context.Context, key spool.ThreadKey, event spool.Event, about spool.RunID, by record.Publisher) (spool.Entry, error) {
	var entry spool.Entry
	held := false
	err := e.store.Update(ctx, key, 0, func(tx spool.Tx) error {
		run, thread, err := subject(tx, about)
		if err != nil {
			return err
		}
		held = thread.Leased(tx.Now())
		entry = spool.Entry{Type: event.Type, Payload: event.Payload, RunID: run.ID}
		by.Sign(&entry)
		return tx.AppendEntries(&entry)
	})
	if err != nil {
		return spool.Entry{}, record.NotFound(err)
	}
	e.bus.Wake(key, spool.WakeRecord)
	if held {
		e.bus.Wake(key, spool.WakeEvent)
	}
	return entry, nil
}

// record writes a durable event among the items of the segment, or behind them where the
// segment is over.
func (s *segment) record(ctx context.Context, event spool.Event, about spool.RunID, by record.Publisher) (entry spool.Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err = s.writer.Commit(ctx, func(out *order.List) error {
		return s.e.store.Update(ctx, s.key, s.fence, func(tx spool.Tx) error {
			run, thread, err := subject(tx, about)
			switch {
			case err != nil:
				return err
			case !s.owns(thread):
				return spool.ErrFenced
			}
			out.Begin(thread.LastSeq)
			entry = spool.Entry{Type: event.Type, Payload: event.Payload, RunID: run.ID}
			by.Sign(&entry)
			open, err := s.isOpen(tx, thread)
			if err != nil {
				return err
			}
			if open {
				out.Place(&entry)
			}
			if err := tx.AppendEntries(&entry); err != nil {
				return err
			}
			out.Behind(entry.Seq)
			return nil
		})
	})
	if err != nil {
		return spool.Entry{}, record.NotFound(err)
	}
	s.e.bus.Wake(s.key, spool.WakeRecord)
	return entry, nil
}

// isOpen reports whether the record has not got the end of the segment yet, which has to be the
// one that has the thread. A segment whose end somebody else has written has lost the thread
// before: its fence is an old one.
func (s *segment) isOpen(v spool.View, thread spool.Thread) (bool, error) {
	if thread.State != spool.Running {
		return false, nil
	}
	run, err := v.Run(thread.RunID)
	return run.Stream() == s.writer.ID(), err
}

// carried are the segments that this process has in hand.
type carried struct {
	mu sync.Mutex
	by map[spool.ThreadKey]*segment
}

// add makes the segment known until the returned function is called.
func (c *carried) add(s *segment) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = make(map[spool.ThreadKey]*segment)
	}
	c.by[s.key] = s
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.by[s.key] == s { // not a later one's
			delete(c.by, s.key)
		}
	}
}

// find returns the thread's segment, nil where another process has it or nobody.
func (c *carried) find(key spool.ThreadKey) *segment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[key]
}

package agent

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/stream"
)

// Publish tells an event that a subject publishes about a run, or about none.
func (r *Runner) Publish(
	ctx context.Context, key spool.ThreadKey, event spool.Event, about spool.RunID, subject string,
) (spool.Entry, error) {
	s, by := r.carried.find(key), record.Publisher{Subject: subject}
	if !event.Durable {
		return r.tell(ctx, key, s, event, about, by)
	}
	if err := r.CheckRoom(ctx, key.Tenant); err != nil {
		return spool.Entry{}, err
	}
	if s != nil {
		entry, err := s.record(ctx, event, about, by)
		if spool.CodeOf(err) != spool.Fenced { // else another worker has the run by now
			return entry, err
		}
	}
	return r.record(ctx, key, event, about, by)
}

// publish is [Runner.Publish] for a tool of the segment.
func (s *segment) publish(ctx context.Context, event spool.Event, run spool.RunID, tool string) error {
	by := record.Publisher{Tool: tool}
	if event.Durable {
		_, err := s.record(ctx, event, run, by)
		return err
	}
	entry := spool.Entry{ThreadID: s.key.ID, Type: event.Type, Payload: event.Payload, CreatedAt: time.Now().UTC(), RunID: run}
	by.Sign(&entry)
	if !s.writer.Event(ctx, entry) {
		stream.Notify(s.runner.Bus, s.key, entry)
	}
	return nil
}

// tell publishes a live event.
func (r *Runner) tell(ctx context.Context, key spool.ThreadKey, s *segment, event spool.Event, about spool.RunID, by record.Publisher) (spool.Entry, error) {
	entry := spool.Entry{ThreadID: key.ID, Type: event.Type, Payload: event.Payload}
	by.Sign(&entry)
	err := r.Store.View(ctx, key, func(v spool.View) error {
		run, _, err := subject(v, about)
		entry.RunID, entry.CreatedAt = run.ID, v.Now()
		return err
	})
	if err != nil {
		return spool.Entry{}, record.NotFound(err)
	}
	if s == nil || s.id != entry.RunID || !s.writer.Event(ctx, entry) {
		stream.Notify(r.Bus, key, entry)
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
func (r *Runner) record(ctx context.Context, key spool.ThreadKey, event spool.Event, about spool.RunID, by record.Publisher) (spool.Entry, error) {
	var entry spool.Entry
	held := false
	err := r.Store.Update(ctx, key, 0, func(tx spool.Tx) error {
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
	r.Bus.Wake(key, spool.WakeRecord)
	if held {
		r.Bus.Wake(key, spool.WakeEvent)
	}
	return entry, nil
}

// record writes a durable event among the items of the segment, or behind them where the
// segment is over.
func (s *segment) record(ctx context.Context, event spool.Event, about spool.RunID, by record.Publisher) (entry spool.Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err = s.writer.Commit(ctx, func(out *order.List) error {
		return s.runner.Store.Update(ctx, s.key, s.fence, func(tx spool.Tx) error {
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
	s.runner.Bus.Wake(s.key, spool.WakeRecord)
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

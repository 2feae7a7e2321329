// Package publish tells the events of the application: a live event as an item of the run stream, where
// this process carries the run, and as a notice anywhere else; a durable one as an entry of the
// record, which has its place among the items of the segment that this process carries.
package publish

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/stream"
)

// Segment is a worker's hold on a thread, with the stream that it writes.
type Segment struct {
	Key   spool.ThreadKey
	Fence int64
	RunID spool.RunID
	// Made is when the thread was, as a deleted one may be made again.
	Made   time.Time
	Writer *stream.Writer
}

// Owns reports whether the thread is still the segment's. The fence alone does not say so:
// a thread that is deleted and made again counts from the start.
func (s *Segment) Owns(t spool.Thread) bool {
	return t.Fence == s.Fence && t.RunID == s.RunID && t.CreatedAt.Equal(s.Made)
}

// saveTimeout bounds a write to the record of a segment.
const saveTimeout = 30 * time.Second

// Publisher publishes events. It knows the segments that this process carries.
type Publisher struct {
	Store spool.Store
	Bus   spool.Bus

	mu      sync.Mutex
	carried map[spool.ThreadKey]*Segment
}

// Add makes a segment known until the returned function is called.
func (p *Publisher) Add(s *Segment) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.carried == nil {
		p.carried = make(map[spool.ThreadKey]*Segment)
	}
	p.carried[s.Key] = s
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.carried[s.Key] == s { // not a later one's
			delete(p.carried, s.Key)
		}
	}
}

// find returns the thread's segment, nil where another process has it or nobody.
func (p *Publisher) find(key spool.ThreadKey) *Segment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.carried[key]
}

// Publish tells an event that a subject publishes about a run, or about none. A tenant that has no
// room for a durable event is the caller's to refuse.
func (p *Publisher) Publish(
	ctx context.Context, key spool.ThreadKey, event spool.Event, about spool.RunID, subject string,
) (spool.Entry, error) {
	s, by := p.find(key), record.Publisher{Subject: subject}
	if !event.Durable {
		return p.tell(ctx, key, s, event, about, by)
	}
	if s != nil {
		entry, err := p.recordAmong(ctx, s, event, about, by)
		if spool.CodeOf(err) != spool.Fenced { // else another worker has the run by now
			return entry, err
		}
	}
	return p.record(ctx, key, event, about, by)
}

// FromTool is [Publisher.Publish] for a tool of a segment.
func (p *Publisher) FromTool(ctx context.Context, s *Segment, event spool.Event, run spool.RunID, tool string) error {
	by := record.Publisher{Tool: tool}
	if event.Durable {
		_, err := p.recordAmong(ctx, s, event, run, by)
		return err
	}
	entry := spool.Entry{ThreadID: s.Key.ID, Type: event.Type, Payload: event.Payload, CreatedAt: time.Now().UTC(), RunID: run}
	by.Sign(&entry)
	if !s.Writer.Event(ctx, entry) {
		stream.Notify(p.Bus, s.Key, entry)
	}
	return nil
}

// tell publishes a live event.
func (p *Publisher) tell(ctx context.Context, key spool.ThreadKey, s *Segment, event spool.Event, about spool.RunID, by record.Publisher) (spool.Entry, error) {
	entry := spool.Entry{ThreadID: key.ID, Type: event.Type, Payload: event.Payload}
	by.Sign(&entry)
	err := p.Store.View(ctx, key, func(v spool.View) error {
		run, _, err := subject(v, about)
		entry.RunID, entry.CreatedAt = run.ID, v.Now()
		return err
	})
	if err != nil {
		return spool.Entry{}, record.NotFound(err)
	}
	if s == nil || s.RunID != entry.RunID || !s.Writer.Event(ctx, entry) {
		stream.Notify(p.Bus, key, entry)
	}
	return entry, nil
}

// subject returns the run that an event is about, with the thread. The zero run is none.
func subject(v spool.View, about spool.RunID) (run spool.RunRow, thread spool.Thread, err error) {
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
func (p *Publisher) record(ctx context.Context, key spool.ThreadKey, event spool.Event, about spool.RunID, by record.Publisher) (spool.Entry, error) {
	var entry spool.Entry
	held := false
	err := p.Store.Update(ctx, key, 0, func(tx spool.Tx) error {
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
	p.Bus.Wake(key, spool.WakeRecord)
	if held {
		p.Bus.Wake(key, spool.WakeEvent)
	}
	return entry, nil
}

// recordAmong writes a durable event among the items of the segment, or behind them where the
// segment is over.
func (p *Publisher) recordAmong(ctx context.Context, s *Segment, event spool.Event, about spool.RunID, by record.Publisher) (entry spool.Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err = s.Writer.Commit(ctx, func(out *order.List) error {
		return p.Store.Update(ctx, s.Key, s.Fence, func(tx spool.Tx) error {
			run, thread, err := subject(tx, about)
			switch {
			case err != nil:
				return err
			case !s.Owns(thread):
				return spool.ErrFenced
			}
			out.Begin(thread.LastSeq)
			entry = spool.Entry{Type: event.Type, Payload: event.Payload, RunID: run.ID}
			by.Sign(&entry)
			open, err := isOpen(tx, s, thread)
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
	p.Bus.Wake(s.Key, spool.WakeRecord)
	return entry, nil
}

// isOpen reports whether the record has not got the end of the segment yet, which has to be the
// one that has the thread. A segment whose end somebody else has written has lost the thread
// before: its fence is an old one.
func isOpen(v spool.View, s *Segment, thread spool.Thread) (bool, error) {
	if thread.State != spool.Running {
		return false, nil
	}
	run, err := v.Run(thread.RunID)
	return run.Stream() == s.Writer.ID(), err
}

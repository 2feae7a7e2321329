// Package publish publishes the events of the application. A live event becomes an item of the run
// stream if this process executes the run, and a notice otherwise. A durable event becomes an entry of
// the record. If this process executes the segment, the entry also has a position in the stream.
package publish

import (
	"context"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Segment is a segment that this process executes, with the writer of its stream.
type Segment struct {
	Key   spool.ThreadKey
	Fence int64
	RunID spool.RunID
	// CreatedAt is the time at which the thread was created. A deleted thread may be created again.
	CreatedAt time.Time
	Writer    *stream.Writer
}

// Owns reports whether the segment still has the lease on the thread. The fence alone is not enough: a
// thread that is deleted and created again counts fences from the start.
func (s *Segment) Owns(t wire.Thread) bool {
	return t.Fence == s.Fence && t.RunID == s.RunID && t.CreatedAt.Equal(s.CreatedAt)
}

// saveTimeout bounds a write to the record during a segment.
const saveTimeout = 30 * time.Second

// Publisher publishes events. It knows the segments that this process executes.
type Publisher struct {
	Store store.Store
	Live  store.Live

	mu     sync.Mutex
	active map[spool.ThreadKey]*Segment
}

// Add registers a segment until the returned function is called.
func (p *Publisher) Add(s *Segment) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active == nil {
		p.active = make(map[spool.ThreadKey]*Segment)
	}
	p.active[s.Key] = s
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.active[s.Key] == s { // not a later segment's
			delete(p.active, s.Key)
		}
	}
}

// find returns the thread's segment, or nil if this process does not execute it.
func (p *Publisher) find(key spool.ThreadKey) *Segment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active[key]
}

// Publish publishes a subject's event. About is the run of the event. If it is empty, the event belongs
// to the thread's active run, if any. The caller has checked that the tenant has room for a durable event.
func (p *Publisher) Publish(
	ctx context.Context, key spool.ThreadKey, event spool.Event, about spool.RunID, subject string,
) (wire.Entry, error) {
	s, by := p.find(key), record.Publisher{Subject: subject}
	if !event.Durable {
		return p.publishLive(ctx, key, s, event, about, by)
	}
	if s != nil {
		entry, err := p.recordInSegment(ctx, s, event, about, by)
		if spool.CodeOf(err) != spool.Fenced { // Fenced: another worker has the run now
			return entry, err
		}
	}
	return p.recordOutside(ctx, key, event, about, by)
}

// FromTool publishes an event as [Publisher.Publish] does, for a tool of a segment.
func (p *Publisher) FromTool(ctx context.Context, s *Segment, event spool.Event, run spool.RunID, tool string) error {
	by := record.Publisher{Tool: tool}
	if event.Durable {
		_, err := p.recordInSegment(ctx, s, event, run, by)
		return err
	}
	entry := wire.Entry{
		ThreadID: s.Key.ID, Type: wire.EntryType(event.Type), Payload: event.Payload, CreatedAt: time.Now().UTC(), RunID: run,
	}
	by.Sign(&entry)
	if !s.Writer.Event(ctx, entry) {
		stream.Notify(p.Live, s.Key, entry)
	}
	return nil
}

// publishLive publishes a live event.
func (p *Publisher) publishLive(
	ctx context.Context, key spool.ThreadKey, s *Segment, event spool.Event, about spool.RunID, by record.Publisher,
) (wire.Entry, error) {
	entry := wire.Entry{ThreadID: key.ID, Type: wire.EntryType(event.Type), Payload: event.Payload}
	by.Sign(&entry)
	err := p.Store.View(ctx, key, func(v store.View) error {
		run, _, err := subject(v, about)
		entry.RunID, entry.CreatedAt = run.ID, v.Now()
		return err
	})
	if err != nil {
		return wire.Entry{}, record.NotFound(err)
	}
	if s == nil || s.RunID != entry.RunID || !s.Writer.Event(ctx, entry) {
		stream.Notify(p.Live, key, entry)
	}
	return entry, nil
}

// subject returns the thread and the run that an event is about. An empty about stands for the thread's
// active run. If there is none, the run is zero.
func subject(v store.View, about spool.RunID) (run store.RunRow, thread wire.Thread, err error) {
	if thread, err = v.Thread(); err != nil {
		return run, thread, err
	}
	if about == "" {
		if !thread.State.Active() {
			return run, thread, nil
		}
		about = thread.RunID
	}
	run, err = store.FindRun(v, about)
	switch {
	case record.Missing(err):
		return run, thread, &spool.Error{Code: spool.Invalid, Message: "runId is not a run of the thread", Err: err}
	case err == nil && run.State.Terminal():
		return run, thread, spool.Errorf(spool.Conflict, "runId is a run that has ended")
	default:
		return run, thread, err
	}
}

// recordOutside writes a durable event without a position in the stream. If a worker holds the thread,
// recordOutside wakes the worker, so that its next items follow the entry.
func (p *Publisher) recordOutside(
	ctx context.Context, key spool.ThreadKey, event spool.Event, about spool.RunID, by record.Publisher,
) (wire.Entry, error) {
	var entry wire.Entry
	leased := false
	err := p.Store.Update(ctx, key, 0, func(tx store.Tx) error {
		run, thread, err := subject(tx, about)
		if err != nil {
			return err
		}
		leased = thread.Leased(tx.Now())
		entry = wire.Entry{Type: wire.EntryType(event.Type), Payload: event.Payload, RunID: run.ID}
		by.Sign(&entry)
		return tx.Write(store.Changes{Entries: []*wire.Entry{&entry}})
	})
	if err != nil {
		return wire.Entry{}, record.NotFound(err)
	}
	p.Live.Wake(key, store.WakeRecord, nil)
	if leased {
		p.Live.Wake(key, store.WakeEvent, nil)
	}
	return entry, nil
}

// recordInSegment writes a durable event between the items of the segment. If the segment has ended,
// the event follows all of its items.
func (p *Publisher) recordInSegment(
	ctx context.Context, s *Segment, event spool.Event, about spool.RunID, by record.Publisher,
) (entry wire.Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err = s.Writer.Commit(ctx, func(out *order.List) error {
		return p.Store.Update(ctx, s.Key, s.Fence, func(tx store.Tx) error {
			run, thread, err := subject(tx, about)
			switch {
			case err != nil:
				return err
			case !s.Owns(thread):
				return store.ErrFenced
			}
			out.Begin(thread.LastSeq)
			entry = wire.Entry{Type: wire.EntryType(event.Type), Payload: event.Payload, RunID: run.ID}
			by.Sign(&entry)
			open, err := isOpen(tx, s, thread)
			if err != nil {
				return err
			}
			if open {
				out.Place(&entry)
			}
			if err := tx.Write(store.Changes{Entries: []*wire.Entry{&entry}}); err != nil {
				return err
			}
			out.After(entry.Seq)
			return nil
		})
	})
	if err != nil {
		return wire.Entry{}, record.NotFound(err)
	}
	p.Live.Wake(s.Key, store.WakeRecord, nil)
	return entry, nil
}

// isOpen reports whether the record does not yet contain the end of the segment. The caller has checked
// the fence, so the thread is still the segment's.
func isOpen(v store.View, s *Segment, thread wire.Thread) (bool, error) {
	if thread.State != wire.Running {
		return false, nil
	}
	run, err := store.FindRun(v, thread.RunID)
	return run.Stream() == s.Writer.ID(), err
}

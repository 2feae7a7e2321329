package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// EventQuery selects durable events of an application from a thread's record.
type EventQuery struct {
	// After leaves out events up to this seq.
	After int64
	// Limit bounds how many events a page has, up to 1,000. Defaults to 100.
	Limit int
}

// EventPage is a page of the durable events of an application.
type EventPage struct {
	// Events are in the order of their seq.
	Events []spool.Entry `json:"events"`
	// Next is the After of the next page. Zero: the record has no more entries. A page may have
	// fewer events than asked for, or none, and a next page all the same.
	Next int64 `json:"next,omitempty"`
}

const (
	defaultEventPage = 100
	maxEventPage     = 1000
	// maxEventScan bounds how many entries of a record are read for one page, as most of them
	// may be the engine's own.
	maxEventScan = 2000
)

// Events returns the durable events that an application has published on the thread. It returns
// an [spool.Invalid] error for a query that is wrong, and a [spool.NotFound] error for a thread
// that does not exist.
func (e *Engine) Events(ctx context.Context, key spool.ThreadKey, q EventQuery) (EventPage, error) {
	switch {
	case q.After < 0:
		return EventPage{}, spool.Errorf(spool.Invalid, "after must be zero or a positive integer")
	case q.Limit < 0 || q.Limit > maxEventPage:
		return EventPage{}, spool.Errorf(spool.Invalid, "limit must be an integer from 1 to %d", maxEventPage)
	case q.Limit == 0:
		q.Limit = defaultEventPage
	}
	page := EventPage{Events: []spool.Entry{}}
	err := e.store.View(ctx, key, func(v spool.View) error {
		page.Events, page.Next = page.Events[:0], 0
		if _, err := v.Thread(); err != nil {
			return record.NotFound(err)
		}
		entries, err := v.Entries(spool.EntryQuery{After: q.After, Limit: maxEventScan})
		for i, entry := range entries {
			if entry.Type.Reserved() {
				continue
			}
			page.Events = append(page.Events, entry)
			if len(page.Events) == q.Limit && i < len(entries)-1 {
				page.Next = entry.Seq
				return err
			}
		}
		if len(entries) == maxEventScan {
			page.Next = entries[len(entries)-1].Seq
		}
		return err
	})
	return page, err
}

package inspect

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	defaultEventPage = 100
	maxEventPage     = 1000
	// maxEventScan bounds how many entries are read for one page, because most entries may be the
	// engine's own.
	maxEventScan = 2000
)

// CheckEvents fills in a query's defaults and validates it.
func CheckEvents(q wire.EventQuery) (wire.EventQuery, error) {
	switch {
	case q.After < 0:
		return q, spool.Errorf(spool.Invalid, "after must be zero or a positive integer")
	case q.Limit < 0 || q.Limit > maxEventPage:
		return q, spool.Errorf(spool.Invalid, "limit must be an integer from 1 to %d", maxEventPage)
	case q.Limit == 0:
		q.Limit = defaultEventPage
	}
	return q, nil
}

// Events returns a page of the application's events from the record.
func Events(v store.View, q wire.EventQuery) (wire.EventPage, error) {
	page := wire.EventPage{Events: []wire.Entry{}}
	entries, err := v.Entries(store.EntryQuery{After: q.After, Limit: maxEventScan})
	for i, entry := range entries {
		if !entry.Published {
			continue
		}
		page.Events = append(page.Events, entry)
		if len(page.Events) == q.Limit && i < len(entries)-1 {
			page.Next = entry.Seq
			return page, err
		}
	}
	if len(entries) == maxEventScan {
		page.Next = entries[len(entries)-1].Seq
	}
	return page, err
}

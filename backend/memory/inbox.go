package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Parks lists parks of a tenant.
func (s port) Parks(ctx context.Context, q wire.ParkQuery) ([]store.ParkRow, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.now()
	found := []store.ParkRow{}
	for key, data := range s.threads {
		if key.Tenant != q.Tenant || q.ThreadID != "" && key.ID != q.ThreadID ||
			q.Owner != "" && data.thread.Owner != q.Owner {
			continue
		}
		for _, p := range data.parks {
			if !inState(p, q.State, now) || !parkListed(p, q) {
				continue
			}
			if row := data.parkRow(p); rowListed(row, q) {
				found = append(found, row)
			}
		}
	}
	slices.SortFunc(found, func(a, b store.ParkRow) int { return parkOrder(a.Park, b.Park, q) })
	found = found[:bounded(len(found), q.Limit)]
	for i, row := range found {
		found[i] = cloneParkRow(row)
	}
	return found, nil
}

// inState reports whether a park is open to answers, or has expired.
func inState(p store.Park, state wire.ParkState, now time.Time) bool {
	if state == wire.ParkExpired {
		return p.State == wire.ParkExpired
	}
	return p.State == wire.ParkOpen && p.ExpiresAt.After(now)
}

// parkOrder compares parks in the order of the query.
func parkOrder(a, b store.Park, q wire.ParkQuery) int {
	order := q.Order
	if q.State == wire.ParkExpired {
		order, a, b = wire.ParksByExpiry, b, a
	}
	return cmp.Or(a.Time(order).Compare(b.Time(order)), cmp.Compare(a.RunID, b.RunID),
		cmp.Compare(a.ToolCallID, b.ToolCallID))
}

// parkListed applies the fields of the query that a park has.
func parkListed(p store.Park, q wire.ParkQuery) bool {
	switch {
	case q.Tool != "" && p.ToolName != q.Tool,
		q.Reason != "" && p.Reason != q.Reason:
		return false
	case q.After.IsZero():
		return true
	}
	after := q.After.Truncate(time.Microsecond)
	return parkOrder(p, store.Park{CreatedAt: after, ExpiresAt: after, RunID: q.AfterRun, ToolCallID: q.AfterCall}, q) > 0
}

// rowListed applies the fields of the query that the runs of a park have.
func rowListed(row store.ParkRow, q wire.ParkQuery) bool {
	if len(row.Runs) == 0 {
		return false
	}
	root, caller := row.Runs[0], row.Runs[len(row.Runs)-1]
	return (q.State == wire.ParkExpired || root.State == wire.WaitingForInput) &&
		(q.StartedBy == "" || root.StartedBy == q.StartedBy) &&
		(q.Agent == "" || root.Agent == q.Agent || caller.Agent == q.Agent)
}

// parkRow returns a park with its thread and runs, which it shares with d. It has no runs if one of them is missing.
func (d *threadData) parkRow(p store.Park) store.ParkRow {
	row := store.ParkRow{Park: p, Thread: *d.thread}
	for _, id := range p.RunIDs() {
		at := d.runAt(id)
		if at < 0 {
			row.Runs = nil
			break
		}
		row.Runs = append(row.Runs, d.runs[at])
	}
	return row
}

func cloneParkRow(row store.ParkRow) store.ParkRow {
	row.Park, row.Thread = clonePark(row.Park), cloneThread(row.Thread)
	for i, r := range row.Runs {
		row.Runs[i] = cloneRow(r)
	}
	return row
}

package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// Parks lists parks of a tenant.
func (s port) Parks(ctx context.Context, q spool.ParkQuery) ([]spool.ParkRow, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.now()
	found := []spool.ParkRow{}
	for key, data := range s.threads {
		if key.Tenant != q.Tenant || q.ThreadID != "" && key.ID != q.ThreadID || q.Owner != "" && data.thread.Owner != q.Owner {
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
	slices.SortFunc(found, func(a, b spool.ParkRow) int { return parkOrder(a.Park, b.Park, q) })
	found = found[:bounded(len(found), q.Limit)]
	for i, row := range found {
		found[i] = cloneParkRow(row)
	}
	return found, nil
}

// inState reports whether a park is open to answers, or has expired.
func inState(p spool.Park, state spool.ParkState, now time.Time) bool {
	if state == spool.ParkExpired {
		return p.State == spool.ParkExpired
	}
	return p.State == spool.ParkOpen && p.ExpiresAt.After(now)
}

// parkOrder compares parks in the order of the query.
func parkOrder(a, b spool.Park, q spool.ParkQuery) int {
	order := q.Order
	if q.State == spool.ParkExpired {
		order, a, b = spool.ParksByExpiry, b, a
	}
	return cmp.Or(a.Time(order).Compare(b.Time(order)), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.ToolCallID, b.ToolCallID))
}

// parkListed applies the fields of the query that a park has.
func parkListed(p spool.Park, q spool.ParkQuery) bool {
	switch {
	case q.Tool != "" && p.ToolName != q.Tool,
		q.Reason != "" && p.Reason != q.Reason:
		return false
	case q.After.IsZero():
		return true
	}
	after := q.After.Truncate(time.Microsecond)
	return parkOrder(p, spool.Park{CreatedAt: after, ExpiresAt: after, RunID: q.AfterRun, ToolCallID: q.AfterCall}, q) > 0
}

// rowListed applies the fields of the query that the runs of a park have.
func rowListed(row spool.ParkRow, q spool.ParkQuery) bool {
	if len(row.Runs) == 0 {
		return false
	}
	root, caller := row.Runs[0], row.Runs[len(row.Runs)-1]
	return (q.State == spool.ParkExpired || root.State == spool.WaitingForInput) &&
		(q.StartedBy == "" || root.StartedBy == q.StartedBy) &&
		(q.Agent == "" || root.Agent == q.Agent || caller.Agent == q.Agent)
}

// parkRow returns a park with its thread and runs, which it shares with d. It has no runs if one of them is missing.
func (d *threadData) parkRow(p spool.Park) spool.ParkRow {
	row := spool.ParkRow{Park: p, Thread: *d.thread}
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

func cloneParkRow(row spool.ParkRow) spool.ParkRow {
	row.Park, row.Thread = clonePark(row.Park), cloneThread(row.Thread)
	for i, r := range row.Runs {
		row.Runs[i] = cloneRow(r)
	}
	return row
}

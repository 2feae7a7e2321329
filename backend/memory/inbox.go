package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// Parks lists a tenant's open parks.
func (s store) Parks(ctx context.Context, q spool.ParkQuery) ([]spool.ParkRow, error) {
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
			if p.State != spool.ParkOpen || !p.ExpiresAt.After(now) || !parkListed(p, q) {
				continue
			}
			if row := data.parkRow(p); rowListed(row, q) {
				found = append(found, row)
			}
		}
	}
	slices.SortFunc(found, func(a, b spool.ParkRow) int {
		return cmp.Or(a.Time(q.Order).Compare(b.Time(q.Order)), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.ToolCallID, b.ToolCallID))
	})
	found = found[:bounded(len(found), q.Limit)]
	for i, row := range found {
		found[i] = cloneParkRow(row)
	}
	return found, nil
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
	return cmp.Or(p.Time(q.Order).Compare(after), cmp.Compare(p.RunID, q.AfterRun), cmp.Compare(p.ToolCallID, q.AfterCall)) > 0
}

// rowListed applies the fields of the query that the runs of a park have.
func rowListed(row spool.ParkRow, q spool.ParkQuery) bool {
	if len(row.Runs) == 0 {
		return false
	}
	root, caller := row.Runs[0], row.Runs[len(row.Runs)-1]
	return root.State == spool.WaitingForInput &&
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

package form

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// OpenPark is the condition of the partial indexes of open parks, before now.
const OpenPark = "state = 'open' AND expires_at > 0"

// ExpiredPark is the condition of the index of expired parks.
const ExpiredPark = "state = 'expired'"

// InboxConditions returns the conditions of a query for parks at a time, of a table of parks that has the name
// "park", and its order. Run and thread are the names of the other tables. What a run or thread must have is a subquery
// for one value, so that a database walks an index of parks and looks up what belongs to each.
func InboxConditions(q wire.ParkQuery, run, thread, now string, nowArg any) (c Conditions, order string) {
	column, after, direction := "created_at", ">", ""
	if q.Order == wire.ParksByExpiry {
		column = "expires_at"
	}
	root, args := "r.state = 'WAITING_FOR_INPUT'", []any(nil)
	if q.State == wire.ParkExpired {
		column, after, direction, root = "expires_at", "<", " DESC", "1 = 1"
		c.And("tenant = ? AND "+ExpiredPark, q.Tenant)
	} else {
		c.And("tenant = ? AND "+OpenPark, q.Tenant)
		c.And("expires_at > "+now, nowArg)
	}
	if !q.After.IsZero() {
		c.And("("+column+", run_id, tool_call_id) "+after+" (?, ?, ?)", q.After, q.AfterRun, q.AfterCall)
	}
	for _, word := range []struct{ column, value string }{
		{"thread_id", string(q.ThreadID)}, {"tool_name", q.Tool}, {"reason", q.Reason},
	} {
		if word.value != "" {
			c.And(word.column+" = ?", word.value)
		}
	}
	if q.StartedBy != "" {
		root, args = root+" AND r.started_by = ?", append(args, q.StartedBy)
	}
	if q.Agent != "" {
		root += " AND (r.agent = ? OR park.agent_id <> '' AND coalesce((SELECT c.agent = ? FROM " + run +
			" c WHERE c.tenant = park.tenant AND c.id = park.agent_id), r.agent = ?))"
		args = append(args, q.Agent, q.Agent, q.Agent)
	}
	c.And("coalesce((SELECT "+root+" FROM "+run+" r WHERE r.tenant = park.tenant AND r.id = park.run_id), 1 = 0)", args...)
	if q.Owner != "" {
		c.And(
			"coalesce((SELECT t.owner = ? FROM "+thread+" t WHERE t.tenant = park.tenant AND t.id = park.thread_id), 1 = 0)",
			q.Owner,
		)
	}
	return c, " ORDER BY " + column + direction + ", run_id" + direction + ", tool_call_id" + direction + " LIMIT ?"
}

// Inbox has the rows of a list of parks while they are read: first the parks, then the runs and threads that they
// belong to.
type Inbox struct {
	Parks   []store.ParkRow
	runs    map[spool.RunID]store.RunRow
	threads map[spool.ThreadID]wire.Thread
}

// InboxColumns are the columns of [Inbox.ScanPark].
const InboxColumns = "thread_id, " + ParkColumns

// ScanPark reads InboxColumns.
func (b *Inbox) ScanPark(r Row) {
	thread := spool.ThreadID(r.Text())
	b.Parks = append(b.Parks, store.ParkRow{Park: ScanPark(r), Thread: wire.Thread{ID: thread}})
}

// ScanRun reads WholeRunColumns.
func (b *Inbox) ScanRun(r Row) {
	run := ScanWholeRun(r)
	if b.runs == nil {
		b.runs = make(map[spool.RunID]store.RunRow)
	}
	b.runs[run.ID] = run
}

// ScanThread reads ThreadColumns.
func (b *Inbox) ScanThread(r Row) {
	t := ScanThread(r)
	if b.threads == nil {
		b.threads = make(map[spool.ThreadID]wire.Thread)
	}
	b.threads[t.ID] = t
}

// RunIDs returns the runs of the parks, each once.
func (b *Inbox) RunIDs() []string {
	ids := []string{}
	for _, p := range b.Parks {
		for _, id := range p.RunIDs() {
			ids = append(ids, string(id))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// ThreadIDs returns the threads of the parks, each once.
func (b *Inbox) ThreadIDs() []string {
	ids := []string{}
	for _, p := range b.Parks {
		ids = append(ids, string(p.Thread.ID))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Rows returns the parks with their threads and runs, once all three have been read.
func (b *Inbox) Rows() []store.ParkRow {
	rows := make([]store.ParkRow, 0, len(b.Parks))
	for _, row := range b.Parks {
		row.Thread = b.threads[row.Thread.ID]
		for _, id := range row.RunIDs() {
			row.Runs = append(row.Runs, b.runs[id])
		}
		rows = append(rows, row)
	}
	return rows
}

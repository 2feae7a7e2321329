package postgres

import (
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Entries implements [store.View]. The indexes by run and by type end in seq, so that the newest entries are found
// without reading others.
func (v *view) Entries(q store.EntryQuery) ([]wire.Entry, error) {
	where := form.EntryConditions(v.key, q)
	query := "SELECT " + form.EntryColumns + " FROM spool.entry WHERE " + where.Text + " ORDER BY seq"
	if q.Last {
		query += " DESC"
	}
	entries := []wire.Entry{}
	err := v.query(query+" LIMIT ?", each(&entries, func(r *row) wire.Entry { return form.ScanEntry(r, v.key.ID) }),
		append(where.Args, bound(q.Limit))...)
	return entries, err
}

// addEntries adds entries to the record. The transaction holds the thread's lock, so it counts on from the last
// number, which is written at the end with the thread's row. If the transaction fails, the next one uses the same
// numbers.
func (t *tx) addEntries(entries []*wire.Entry) {
	for _, e := range entries {
		e.ThreadID, e.Seq, e.CreatedAt = t.key.ID, t.row.LastSeq+1, t.now
		t.write("INSERT INTO spool.entry (tenant, thread_id, "+form.EntryColumns+") VALUES (?, ?, "+
			places(form.EntryColumns)+")",
			t.key.Tenant, t.key.ID, e.Seq, string(e.Type), e.RunID, e.Payload, e.CreatedAt,
			e.Stream, e.After.Fence, e.After.N, e.PublishedBy, e.PublishedByTool, e.Published)
		t.row.LastSeq = e.Seq
		t.grow(form.EntrySize + len(e.Payload))
	}
}

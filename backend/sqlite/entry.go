package sqlite

import (
	"slices"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Entries implements [store.View]. The indexes by run and by type end in seq, so that the newest
// entries are found without reading others. The statements name the indexes, because the planner does
// not know how long a record gets and would walk the primary key.
func (v *view) Entries(q store.EntryQuery) ([]wire.Entry, error) {
	table := "entry"
	switch {
	case q.Run != "":
		table += " INDEXED BY entry_run"
	case q.Type != "":
		table += " INDEXED BY entry_type"
	}
	where := form.EntryConditions(v.key, q)
	query := "SELECT " + form.EntryColumns + " FROM " + table + " WHERE " + where.Text + " ORDER BY seq"
	if q.Last {
		query += " DESC"
	}

	entries := []wire.Entry{}
	err := v.query(query+" LIMIT ?", func(r *row) error {
		entries = append(withRoom(entries, q.Limit), form.ScanEntry(r, v.key.ID))
		return nil
	}, append(where.Args, bound(q.Limit))...)
	return entries, err
}

// withRoom allocates room for a few entries at first, and for a whole page after sixteen. Most queries
// find only a few entries, and most of the others read a long record.
func withRoom(entries []wire.Entry, limit int) []wire.Entry {
	const few, many, page = 4, 16, 256
	if limit <= 0 || limit > page {
		limit = page
	}
	switch len(entries) {
	case 0:
		return make([]wire.Entry, 0, min(limit, few))
	case many:
		return slices.Grow(entries, limit-many)
	default:
		return entries
	}
}

// appendEntries adds entries to the record. The numbers come from a counter in the thread's row. The counter
// is written at the end of the transaction, with the row. If the transaction fails, the next
// transaction uses the same numbers.
func (t *tx) appendEntries(entries []*wire.Entry) error {
	if err := t.needThread(); err != nil {
		return err
	}
	for _, e := range entries {
		seq := t.row.LastSeq + 1
		err := t.write("INSERT INTO entry (tenant, thread_id, "+form.EntryColumns+
			") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			t.key.Tenant, t.key.ID, seq, string(e.Type), e.RunID, e.Payload, t.now,
			e.Stream, e.After.Fence, e.After.N, e.PublishedBy, e.PublishedByTool, e.Published)
		if err != nil {
			return err
		}
		e.ThreadID, e.Seq, e.CreatedAt = t.key.ID, seq, t.now
		t.row.LastSeq = seq
		t.grow(form.EntrySize + len(e.Payload))
	}
	return nil
}

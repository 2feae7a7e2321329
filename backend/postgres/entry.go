package postgres

import (
	"github.com/spoolhq/spool"
)

const entryColumns = `seq, type, run_id, payload, created_at, stream, after_fence, after_n, published_by, published_by_tool`

// Entries implements [spool.View]. The indexes by run and by type end in seq, so that the newest entries are found
// without reading others.
func (v *view) Entries(q spool.EntryQuery) ([]spool.Entry, error) {
	query := "SELECT " + entryColumns + " FROM spool.entry WHERE tenant = ? AND thread_id = ?"
	args := []any{v.key.Tenant, v.key.ID}
	if q.After > 0 {
		query += " AND seq > ?"
		args = append(args, q.After)
	}
	if q.Run != "" {
		query += " AND run_id = ?"
		args = append(args, q.Run)
	}
	if q.Type != "" {
		query += " AND type = ?"
		args = append(args, string(q.Type))
	}
	query += " ORDER BY seq"
	if q.Last {
		query += " DESC"
	}
	entries := []spool.Entry{}
	err := v.query(query+" LIMIT ?", each(&entries, func(r *row) spool.Entry {
		return spool.Entry{
			ThreadID: v.key.ID, Seq: r.int64(), Type: spool.EntryType(r.text()), RunID: spool.RunID(r.text()),
			Payload: r.json(), CreatedAt: r.time(), Stream: spool.StreamID(r.text()),
			After:       spool.Offset{Fence: r.int64(), N: r.int64()},
			PublishedBy: r.text(), PublishedByTool: r.text(),
		}
	}), append(args, bound(q.Limit))...)
	return entries, err
}

// addEntries adds entries to the record. The transaction holds the thread's lock, so it counts on from the last
// number, which is written at the end with the thread's row. If the transaction fails, the next one uses the same
// numbers.
func (t *tx) addEntries(entries []*spool.Entry) {
	for _, e := range entries {
		e.ThreadID, e.Seq, e.CreatedAt = t.key.ID, t.row.LastSeq+1, t.now
		t.write("INSERT INTO spool.entry (tenant, thread_id, "+entryColumns+") VALUES (?, ?, "+places(entryColumns)+")",
			t.key.Tenant, t.key.ID, e.Seq, string(e.Type), e.RunID, e.Payload, e.CreatedAt,
			e.Stream, e.After.Fence, e.After.N, e.PublishedBy, e.PublishedByTool)
		t.row.LastSeq = e.Seq
		t.grow(entrySize + len(e.Payload))
	}
}
